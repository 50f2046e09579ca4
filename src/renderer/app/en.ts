/** Everything the frame around the screens says. */
export const en = {
  hideSidebar: 'Hide conversations',
  showSidebar: 'Show conversations',
  pages: 'Pages',
  chat: 'Chat',
  monitor: 'Monitor',
  server: 'Server',
  lost: 'Connection lost. Trying again…',
  connecting: 'Connecting to Dormouse…',
  refusedTitle: 'This page needs a fresh link',
  refusedText:
    'For your safety each link to Dormouse works once and for a short time. Nothing is broken, and your chats are kept.',
  refusedSteps: 'How to get a new link',
  refusedTerminal: 'Go to the terminal in which Dormouse runs and press Enter: it shows a new link.',
  refusedOpen: 'Or start it once more, and it opens a new link to the running Dormouse:',
  command: 'npm start',
  notices: 'Notices',
  dismiss: 'Dismiss',
  moreNotices: (count: number) => (count === 1 ? '1 more notice' : `${count} more notices`),
} as const;
