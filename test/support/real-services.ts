import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { systemClock, silentLogger, type Clock } from '../../src/main/base/index.ts';
import { defaultFlagValues, ok, type FlagValues, type Settings } from '../../src/main/contract/index.ts';
import type { LlamaEngine } from '../../src/main/engine/index.ts';
import {
  Conversations,
  EngineCompletions,
  EngineModels,
  EngineTelemetry,
  RequestGate,
  SleepLadder,
  type SettingsService,
} from '../../src/main/services/index.ts';
import { ConversationFiles } from '../../src/main/store/index.ts';
import { coreReader, memoryReader, processCpuTime, RequestMarks } from '../../src/main/telemetry/index.ts';
import { builtinPath, createEngine } from './engine.ts';

const settings: SettingsService = {
  value: {} as Settings,
  set: () => Promise.resolve(ok({} as Settings)),
  on: () => () => undefined,
};

/** Engine and services as the app joins them, with a clock of the test's and no graphics cards. */
export async function realServices(
  folder: string,
  changes: Partial<FlagValues> = {},
  clocks: { readonly ladder?: Clock } = {},
) {
  const flags: FlagValues = { ...defaultFlagValues, gpu: 'off', temperature: 0, 'pool-affinity': 'off', ...changes };
  const logger = silentLogger;
  const engine: LlamaEngine = createEngine();
  const models = new EngineModels({ engine, flags, builtinPath, settings });
  const idleUnloadMinutes = flags['idle-unload'] === 'off' ? null : flags['idle-unload'];
  const clock = systemClock;
  const ladder = new SleepLadder({ models, idleUnloadMinutes, clock: clocks.ladder ?? clock, logger });
  const marks = new RequestMarks(clock);
  const gate = new RequestGate({ engine, ladder, marks, clock });
  const common = { flags, createId: randomUUID };
  const completions = new EngineCompletions({ ...common, models, engine: gate.engineFor('api') });
  const ensureOwner = () => Promise.resolve(ok());
  const files = await ConversationFiles.open({
    ...{ folder: join(folder, 'conversations'), now: Date.now, logger, onNotice: () => undefined, ensureOwner },
  });
  const chat = new Conversations({ ...common, engine: gate.engineFor('chat'), models, files, logger, now: Date.now });
  const gpus = { reason: null, start: () => undefined, stop: () => undefined, read: () => [] };
  const machine = { cores: coreReader(), cpuTime: processCpuTime, memory: memoryReader(), gpus };
  const telemetry = new EngineTelemetry({ engine, ladder, marks, clock, logger, mapped: true, machine });
  const close = async () => {
    telemetry.close();
    ladder.close();
    await engine.close();
    await chat.close();
    await files.close();
  };
  return { engine, models, ladder, marks, completions, chat, telemetry, close };
}
