import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/support/summary-reporter.ts';

/**
 * Models, browsers and app processes are heavy: tests that start them run two files at a time, after the light ones.
 * `native` runs the C++ test programs, which it builds first: one file at a time, since each uses all cores.
 */
export default defineConfig({
  test: {
    reporters: ['default', new SummaryReporter()],
    retry: Number(process.env['DORMOUSE_TEST_RETRY'] ?? 0),
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.{ts,tsx}'],
          testTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'native',
          include: ['test/native/**/*.test.ts'],
          globalSetup: ['test/support/build-native.ts'],
          testTimeout: 300_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.{ts,tsx}'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.{ts,tsx}'],
          globalSetup: ['test/support/build-app.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
