export { createServer } from './server.ts';
export type { Server, ServerLimits, ServerOptions } from './options.ts';
