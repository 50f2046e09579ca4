export * from './bridge.ts';
export * from './chat.ts';
export * from './engine.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './flags.ts';
export * from './http.ts';
export * from './requests.ts';
