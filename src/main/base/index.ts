export * from './emitter.ts';
export * from './serial-queue.ts';
export * from './logger.ts';
