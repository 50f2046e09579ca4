export * from './interfaces.ts';
export { Conversations } from './chat.ts';
export { EngineCompletions } from './completions.ts';
export { EngineModels } from './models.ts';
export { RequestGate } from './request-gate.ts';
export { SleepLadder } from './sleep-ladder.ts';
export { EngineTelemetry } from './telemetry.ts';
