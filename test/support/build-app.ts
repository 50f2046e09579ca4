import type { TestProject } from 'vitest/node';
import { prepare } from '../../scripts/prepare.mjs';

/** Builds `build/app` once before tests that start it, and only if it is stale. */
export default async function buildApp(_project: TestProject): Promise<void> {
  const outcome = await prepare({ install: false });
  if (!outcome.ok) throw new Error(outcome.message);
}
