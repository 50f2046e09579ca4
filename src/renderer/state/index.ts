export { AppState } from './app-state.ts';
export { createBridge } from './bridge.ts';
export { AppStateContext, useAppState, useConnection, useConversations, useEngine, useStreamView } from './context.ts';
export { newChat } from './conversations.ts';
export { emptyTree, runningMessage, siblings, visiblePath, type MessageTree } from './message-tree.ts';
