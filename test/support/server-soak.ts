// Run by `npm run soak -- --server`: `server-soak.js SECONDS SEED`. Random clients against the built app.
import process from 'node:process';
import { AppProcess } from './app-process.ts';
import { echo, runRandomClients } from './random-clients.ts';
import { waitFor } from './wait-for.ts';

const seconds = Number(process.argv[2]);
const seed = Number(process.argv[3]);

type Status = { readonly engine: { readonly state: string }; readonly queue: { readonly waiting: number } };

const app = await AppProcess.start({ args: ['--model', 'builtin', '--parallel', '2'] });
const status = async () => (await (await fetch(`${app.origin}/v1/status`)).json()) as Status;
const ready = () => waitFor('an engine with nothing to do', async () => (await status()).engine.state === 'ready');
const memory = async () => {
  const text = await (await fetch(`${app.origin}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1]) / 1024 / 1024;
};
await ready();

const problems: string[] = [];
for (let index = 0; index < 1000; index += 1) {
  const told = await echo(app.origin, index, index);
  if (told !== String(index)) problems.push(`one after another, ${index}: got ${told}`);
}
const crowd = await Promise.all(Array.from({ length: 200 }, (_, index) => echo(app.origin, 5000 + index, index)));
const busy = crowd.filter((told) => told === '429').length;
for (const [index, told] of crowd.entries()) {
  if (told !== '429' && told !== String(5000 + index)) problems.push(`200 at once, ${index}: got ${told}`);
}
console.log(`1,000 one after another and 200 at once (${busy} of them told 429): ${problems.length} wrong`);

const before = await memory();
const report = await runRandomClients({ url: app.origin, seed, atOnce: 8, until: Date.now() + seconds * 1000 });
problems.push(...report.wrong);
await ready();
const { queue } = await status();
if (queue.waiting > 0) problems.push(`${queue.waiting} requests still wait`);
if ((await echo(app.origin, 7, 0)) !== '7') problems.push('no answer after the storm');
const { requests, echoed } = report;
console.log(
  `${requests} random requests in ${seconds} s, ${echoed} answered with their number, ${report.busy} told 429`,
);
console.log(`memory: ${before.toFixed(0)} -> ${(await memory()).toFixed(0)} MiB`);
if (/unhandled|uncaught/i.test(app.output)) problems.push('an unhandled rejection or exception');
const code = await app.stop();
if (code !== 0) problems.push(`the app ended with exit code ${code}`);
for (const problem of problems.slice(0, 20)) console.log(problem);
console.log(problems.length === 0 ? 'ok' : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
