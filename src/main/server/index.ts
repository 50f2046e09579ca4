export { createServer } from './server.ts';
export type { Server, ServerDeps, ServerLimits, ServerOptions } from './options.ts';
