import type { DayGroup } from '../../lib/group-by-day.ts';
import type { StopReason } from '../../../main/contract/index.ts';

const groups: Readonly<Record<DayGroup, string>> = {
  today: 'Today',
  yesterday: 'Yesterday',
  week: 'Last week',
  older: 'Older',
};

/** Null: nothing to say. */
const stopReasons: Readonly<Record<StopReason, string | null>> = {
  end: null,
  stop_string: 'stop text reached',
  max_tokens: 'length limit',
  stopped: 'stopped by you',
  context_full: 'context is full',
};

/** Everything the chat says. */
export const en = {
  app: 'Dormouse',
  newChat: 'New chat',
  conversations: 'Conversations',
  hideSidebar: 'Hide conversations',
  showSidebar: 'Show conversations',
  noConversations: 'Your chats will be listed here.',
  groups,
  keptUntilClosed: 'Chats are kept until Dormouse is closed.',
  untitled: 'Untitled chat',

  engineState: 'Engine state',
  pill: {
    unknown: 'Connecting',
    lost: 'No connection',
    empty: 'No model',
    loading: (percent: string | null) => (percent === null ? 'Loading' : `Loading ${percent}`),
    ready: 'Ready',
    prefill: (done: string, total: string) => `Reading the prompt ${done}/${total}`,
    prefillUnknown: 'Reading the prompt',
    generating: (speed: string | null) => (speed === null ? 'Generating' : `Generating · ${speed} tok/s`),
    unloading: 'Unloading',
    failed: 'Failed',
  },
  builtinModel: 'built-in demo model',
  model: 'Model',

  loadingModel: 'Loading the model',
  loadingHint: 'You can write your message meanwhile.',
  cancel: 'Cancel',
  loadFailed: 'The model could not be loaded.',
  loadBuiltin: 'Load the built-in model',
  noModelTitle: 'No model is loaded',
  noModelText:
    'Dormouse answers with a model in GGUF format on this computer. Load the small built-in one, or use your own:',
  noModelCommand: 'npm start -- --model PATH',
  dismiss: 'Dismiss',
  tryAgain: 'Try again',

  greeting: 'Good to see you.',
  introBuiltin:
    'This is the built-in demo model: tiny, offline, and good only at what it has learned. Ask one of these, or write your own.',
  intro: 'Everything you write stays on this computer. Ask a question, paste some text, or show it code.',
  // The built-in model answers these well at every temperature up to 0.7.
  questions: [
    'What is a mixture of experts model?',
    'Why do the workers sleep?',
    'Can you tell me a story about a dormouse?',
  ],
  questionsLabel: 'Questions to begin with',

  messages: 'Messages',
  you: 'You',
  answer: 'Answer',
  showAll: (characters: string) => `Show all ${characters} characters`,
  message: 'Message',
  placeholder: 'Message Dormouse',
  send: 'Send',
  stop: 'Stop',
  keys: 'Enter sends, Shift+Enter starts a new line',
  keysStreaming: 'Esc stops the answer',
  waitForModel: 'The model is still loading.',
  needsModel: 'Load a model to send.',
  jump: 'Jump to latest',

  waiting: 'Waiting for its turn…',
  reading: 'Reading the prompt…',
  starting: 'Starting…',
  thinking: 'Thinking…',
  thought: 'Thoughts',
  thoughtBriefly: 'Thought for a moment',
  thoughtFor: (time: string) => `Thought for ${time}`,
  emptyAnswer: 'The model gave an empty answer.',
  stoppedEarly: 'Stopped before the first word.',

  tokens: (count: string, one: boolean) => `${count} ${one ? 'token' : 'tokens'}`,
  speed: (speed: string) => `${speed} tok/s`,
  firstToken: (time: string) => `first token ${time}`,
  details: {
    prompt: (total: string) => `Prompt: ${total} tokens`,
    evaluated: (evaluated: string, reused: string) => `${evaluated} evaluated, ${reused} reused from the KV cache`,
    prefill: (time: string) => `Prefill: ${time}`,
    decode: (time: string) => `Decode: ${time}`,
    queued: (time: string) => `Waited in the queue: ${time}`,
    model: (name: string) => `Model: ${name}`,
  },
  stopReasons,
  stopped: 'stopped by you',
  dropped: (count: number) =>
    count === 1 ? '1 earlier turn no longer fits the context' : `${count} earlier turns no longer fit the context`,
  copyAnswer: 'Copy answer',
  copy: { copy: 'Copy', copied: 'Copied', failed: 'Could not copy' },
  regenerate: 'Regenerate',
  retry: 'Try again',
  failed: 'The answer failed.',
  lost: 'Dormouse was closed while this answer was being written.',
  lostHint: 'What had been written is kept. Try again to get a whole answer.',
  branches: 'Versions',
  previousBranch: 'Previous version',
  nextBranch: 'Next version',
  branch: (index: number, count: number) => `${index} / ${count}`,

  markdown: {
    copyCode: { copy: 'Copy code', copied: 'Copied', failed: 'Could not copy' },
    code: 'code',
    image: 'Image',
    table: 'Table',
  },

  announceStarted: 'Dormouse is answering.',
  announceDone: (text: string) => `Answer: ${text}`,
  announceFailed: 'The answer failed.',
} as const;
