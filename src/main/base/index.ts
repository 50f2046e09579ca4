export * from './clock.ts';
export * from './emitter.ts';
export * from './folders.ts';
export * from './logger.ts';
export * from './page-headers.ts';
export * from './serial-queue.ts';
export * from './static-files.ts';
export * from './within-time.ts';
