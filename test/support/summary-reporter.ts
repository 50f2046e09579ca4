import process from 'node:process';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

const manyModules = 20;
const shownModules = 15;

/** Ends a run with `N passed, N failed, N skipped` alone on a line; skipped tests say why. A run without tests fails. */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = tests.filter((test) => test.result().state === 'passed').length;
    const skipped = tests.filter((test) => test.result().state === 'skipped');
    // A file that cannot be loaded or a hook that fails has no failed test of its own, and must still count.
    const brokenModules = modules.filter(
      (module) => module.state() === 'failed' && ![...module.children.allTests('failed')].length,
    ).length;
    const failed =
      tests.filter((test) => test.result().state === 'failed').length + brokenModules + unhandledErrors.length;

    const lines = [...slowestLines(modules), ...retriedLines(tests), ...skippedLines(skipped)];
    if (passed + failed === 0) {
      process.exitCode = 1;
      lines.push('No test ran: that counts as a failure.');
    }
    lines.push(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }
}

/** Where the time of a long run goes. */
function slowestLines(modules: readonly TestModule[]): string[] {
  if (modules.length < manyModules) return [];
  const slowest = [...modules].sort((one, other) => other.diagnostic().duration - one.diagnostic().duration);
  return slowest
    .slice(0, shownModules)
    .map((module) => `slow: ${Math.round(module.diagnostic().duration / 1000)} s (${module.relativeModuleId})`);
}

function retriedLines(tests: readonly TestCase[]): string[] {
  return tests
    .filter((test) => test.result().state === 'passed' && (test.diagnostic()?.retryCount ?? 0) > 0)
    .map((test) => `passed only when run again: ${test.module.relativeModuleId} > ${test.fullName}`);
}

function skippedLines(tests: readonly TestCase[]): string[] {
  return tests.map((test) => {
    const result = test.result();
    const reason = (result.state === 'skipped' && result.note) || 'no reason given';
    return `skipped: ${reason} (${test.module.relativeModuleId} > ${test.fullName})`;
  });
}
