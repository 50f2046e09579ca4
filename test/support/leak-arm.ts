/**
 * One arm of the leak test, in a process of its own: `engine` loads, answers and unloads through our engine,
 * `plain` does the same with node-llama-cpp alone. Prints the resident memory after each cycle as JSON.
 */
import { ChatMLChatWrapper, getLlama, LlamaChatSession } from 'node-llama-cpp';
import { builtinLoad, builtinPath, createEngine, requestOf, unwrap } from './engine.ts';

const [arm, cycles] = [process.argv[2], Number(process.argv[3])];
const resident: number[] = [];

async function engineArm(): Promise<void> {
  const engine = createEngine();
  for (let cycle = 0; cycle < cycles; cycle++) {
    unwrap(await engine.load({ ...builtinLoad, chatFormat: 'chatml' }));
    unwrap(await engine.generate(requestOf('What is 8 plus 6, please?')));
    unwrap(await engine.unload());
    measure();
  }
  await engine.close();
}

async function plainArm(): Promise<void> {
  const llama = await getLlama({ gpu: false, build: 'never' });
  for (let cycle = 0; cycle < cycles; cycle++) {
    const model = await llama.loadModel({ modelPath: builtinPath, gpuLayers: 0 });
    const context = await model.createContext({ contextSize: { max: 1024 }, threads: 1 });
    const session = new LlamaChatSession({
      contextSequence: context.getSequence(),
      chatWrapper: new ChatMLChatWrapper(),
    });
    await session.prompt('What is 8 plus 6, please?', { temperature: 0 });
    session.dispose();
    await context.dispose();
    await model.dispose();
    measure();
  }
  await llama.dispose();
}

function measure(): void {
  globalThis.gc?.();
  const { rss, heapTotal, heapUsed } = process.memoryUsage();
  // The heap is counted by what is used after a collection: its reserved size jumps.
  resident.push(rss - heapTotal + heapUsed);
}

await (arm === 'engine' ? engineArm() : plainArm());
process.stdout.write(`${JSON.stringify(resident)}\n`);
