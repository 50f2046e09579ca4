export { nothingGenerated } from './engine.ts';
export type {
  AnswerEnd,
  AnswerPart,
  ChatTurn,
  CountRequest,
  EmbedOutcome,
  EmbedRequest,
  Engine,
  EngineEvent,
  GenerateOutcome,
  GenerateRequest,
  JsonSchema,
  LoadRequest,
  OutputFormat,
  PoolStats,
  Prompt,
  ToolCall,
  ToolDefinition,
  ToolUse,
  WholeAnswer,
} from './engine.ts';
export { LlamaEngine, type LlamaEngineDependencies } from './llama-engine.ts';
export { addonPath, loadExpertPoolAddon } from './expert-pool.ts';
export type { PoolMiddleware } from './pool-middleware.ts';
export { modelId } from './model-id.ts';
