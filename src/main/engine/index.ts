export { nothingGenerated } from './engine.ts';
export type { ChatTurn, Engine, EngineEvent, GenerateOutcome, GenerateRequest, LoadRequest } from './engine.ts';
export { LlamaEngine, type LlamaEngineDependencies } from './llama-engine.ts';
export { modelId } from './model-id.ts';
