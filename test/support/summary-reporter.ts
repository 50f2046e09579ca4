import process from 'node:process';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

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

    const lines = skippedLines(skipped);
    if (passed + failed === 0) {
      process.exitCode = 1;
      lines.push('No test ran: that counts as a failure.');
    }
    lines.push(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }
}

function skippedLines(tests: readonly TestCase[]): string[] {
  return tests.map((test) => {
    const result = test.result();
    const reason = (result.state === 'skipped' && result.note) || 'no reason given';
    return `skipped: ${reason} (${test.module.relativeModuleId} > ${test.fullName})`;
  });
}
