/** Everything the frame around the screens says. */
export const en = {
  lost: 'Connection lost. Trying again…',
  connecting: 'Connecting to Dormouse…',
  refusedTitle: 'This page needs a fresh link',
  refusedText:
    'For your safety each link to Dormouse works once and for a short time. Nothing is broken, and your chats are still there as long as Dormouse runs.',
  refusedSteps: 'How to get a new link',
  refusedTerminal: 'Look at the terminal in which Dormouse runs: it shows a link.',
  refusedOpen: 'Or let Dormouse open this page again:',
  commands: ['npm start -- --open', 'dormouse --open'],
  or: 'or',
  notices: 'Notices',
  dismiss: 'Dismiss',
} as const;
