export * from './emitter.ts';
export * from './logger.ts';
