export { AppState } from './app-state.ts';
export { createBridge } from './bridge.ts';
export {
  AppStateContext,
  useAppState,
  useConnection,
  useConversations,
  useEngine,
  useNotices,
  useServer,
  useSettings,
  useStream,
  useTelemetry,
  useView,
  useWatch,
} from './context.ts';
export { newChat, noOptions } from './conversations.ts';
export { meanCores, type SpinDemo } from './spin-demo.ts';
export { type TelemetryRange } from './telemetry.ts';
export { isRemoteModel, remoteLabel } from './server.ts';
export { type PageSettings } from './settings.ts';
export { type PageName, type ViewState } from './view.ts';
export { wakesWithRequest } from './engine.ts';
export { emptyTree, runningMessage, siblings, visiblePath, type MessageTree } from './message-tree.ts';
