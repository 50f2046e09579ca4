export { AppState } from './app-state.ts';
export { createBridge } from './bridge.ts';
export {
  AppStateContext,
  useAppState,
  useConnection,
  useConversations,
  useEngine,
  useNotices,
  useSettings,
  useStream,
} from './context.ts';
export { newChat, noOptions } from './conversations.ts';
export { emptyTree, runningMessage, siblings, visiblePath, type MessageTree } from './message-tree.ts';
