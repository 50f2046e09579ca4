/** Everything the desktop shell says: tray, menus, dialogs, notifications, notices. */
export const en = {
  appName: 'Dormouse',
  state: {
    unknown: 'Starting…',
    empty: 'No model loaded',
    hibernated: 'Hibernated - the next request wakes the model',
    waking: 'Waking…',
    loading: (percent: number | null) => (percent === null ? 'Loading…' : `Loading… ${percent} %`),
    ready: 'Ready',
    fallingAsleep: 'Falling asleep…',
    asleep: 'Asleep',
    asleepAt: (cores: string) => `Asleep - ${cores} cores`,
    prefill: 'Reading the prompt…',
    generating: (speed: number | null) => (speed === null ? 'Generating…' : `Generating - ${speed} tok/s`),
    unloading: 'Unloading…',
    failed: 'The model could not be loaded',
  },
  tray: {
    show: 'Show Dormouse',
    hide: 'Hide Dormouse',
    newChat: 'New chat',
    monitor: 'Monitor',
    server: (url: string) => `Server: ${url}`,
    copyAddress: 'Copy address',
    noServer: 'Server: not running',
    unload: 'Unload the model',
    wake: 'Wake: load the last model',
    quit: 'Quit Dormouse',
  },
  menu: {
    file: 'File',
    edit: 'Edit',
    view: 'View',
    window: 'Window',
    help: 'Help',
    newChat: 'New Chat',
    openModel: 'Open Model…',
    closeWindow: 'Close Window',
    copyDiagnostics: 'Copy Diagnostics',
    about: 'About Dormouse',
    quit: 'Quit',
  },
  modelFiles: 'GGUF models',
  quit: {
    question: 'An answer is being written. Quit anyway?',
    detail: 'What has been written so far is kept. The model leaves memory.',
    quit: 'Quit',
    stay: 'Keep running',
  },
  trayNotice: {
    title: 'Dormouse sleeps in the tray',
    text: 'Closing the window keeps it running, so that your chats and tools find it. Quit it from the tray menu.',
  },
  minimisedNotice: {
    title: 'Dormouse is still running',
    text: 'This desktop shows no tray icons, so the window was minimised instead of hidden. Quit ends it: File, Quit.',
  },
  answerReady: { title: 'Your answer is ready', text: 'Click to read it.' },
  answerFailed: { title: 'The answer ended with an error', text: 'Click to see what happened.' },
  stoppedForSuspend:
    'The computer went to sleep, so the answer was stopped. What was written is kept; Regenerate asks again.',
  failedAfterResume: (reason: string) =>
    `The model is not there any more after the computer woke up: ${reason} Your chats are safe. Load the model again, or start Dormouse again.`,
  shortcutTaken: (keys: string) =>
    `The shortcut ${keys} could not be set: another program has it, or it is not written the way the system expects. Nothing else is affected; choose another one.`,
  loginItemFailed: (reason: string) =>
    `Starting at login could not be changed: ${reason} Nothing else is affected; set it in your system's own settings.`,
  windowBroken: {
    title: 'The window broke twice',
    text: 'Dormouse itself still runs, and your chats are saved. Choose View, Reload to try again. If it happens again, start Dormouse with --software-rendering.',
  },
  startFailed: 'Dormouse could not start',
} as const;
