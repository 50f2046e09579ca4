import { execFileSync, spawn } from 'node:child_process';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { programPath } from '../../scripts/lib/native.mjs';
import { nativePresets, nativePrograms, whyNoNativeTests } from '../support/native-programs.ts';

/** Sanitizers make everything five to twenty times slower, and find what they find in a tenth of the epochs. */
const scales: Readonly<Record<string, string>> = { release: '1', asan: '0.1', tsan: '0.1', ubsan: '0.1' };

type Run = { readonly code: number | null; readonly output: string };

function run(program: string, name: string, preset: string): Promise<Run> {
  return new Promise((resolve, reject) => {
    const env = {
      DORMOUSE_TEST_SCALE: scales[preset] ?? '1',
      ...process.env,
      TSAN_OPTIONS: 'halt_on_error=1 second_deadlock_stack=1',
      UBSAN_OPTIONS: 'print_stacktrace=1',
    };
    const child = spawn(programPath(preset, program), [name], { env, timeout: 280_000, killSignal: 'SIGKILL' });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

const reason = whyNoNativeTests();

if (reason !== undefined) {
  it('the C++ tests of the expert pool', ({ skip }) => skip(reason));
} else {
  for (const preset of nativePresets) {
    for (const program of nativePrograms) {
      const list = execFileSync(programPath(preset, program), ['--list'], { encoding: 'utf8' });
      describe(`${preset} ${program}`, () => {
        for (const line of list.trim().split('\n')) {
          const [name = '', bug = ''] = line.split('\t');
          it(name, async () => {
            const { code, output } = await run(program, name, preset);
            expect(code, `would catch: ${bug}\n${output}`).toBe(0);
            expect(output).toContain(`ok ${name}`);
          });
        }
      });
    }
  }
}
