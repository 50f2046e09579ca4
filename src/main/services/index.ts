export * from './interfaces.ts';
export { Conversations } from './chat.ts';
export { EngineCompletions } from './completions.ts';
export { EngineModels } from './models.ts';
