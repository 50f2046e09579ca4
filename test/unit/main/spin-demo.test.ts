import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/main/base/index.ts';
import type { SleepStatus } from '../../../src/main/contract/index.ts';
import { EnginePool } from '../../../src/main/engine/engine-pool.ts';
import type { PoolStats } from '../../../src/main/engine/index.ts';
import type { MiddlewareStats, PoolMiddleware } from '../../../src/main/engine/pool-middleware.ts';

/** A pool whose workers spin while its budget is `always`, once something has woken them. */
class FakeMiddleware implements PoolMiddleware {
  devices = () => ({ devices: [], kept: { tensors: 0, layers: 0, bytes: 0 } });
  place = () => ({ placed: true });
  installed = false;
  spinMs: number | 'always' = 0;
  govern = true;
  awake = false;
  workers = 1;
  /** What the native side does when there is no memory for threads. */
  failing = false;

  install({ spinMs, govern }: Parameters<PoolMiddleware['install']>[0]) {
    this.installed = true;
    this.configure({ spinMs, govern });
    return { installed: true };
  }
  configure({ spinMs = this.spinMs, govern = this.govern }: Parameters<PoolMiddleware['configure']>[0]) {
    this.spinMs = spinMs;
    if (govern === this.govern) return;
    if (this.failing) throw new Error('no threads');
    this.govern = govern;
    // The threads of a new pool begin awake.
    this.awake = true;
  }
  uninstall() {
    this.installed = false;
    return true;
  }
  stats() {
    const state = this.spinMs === 'always' && this.awake ? ('spinning' as const) : ('asleep' as const);
    const workers = Array.from({ length: this.workers }, (_, at) => ({ id: at + 1, state }));
    return {
      installed: this.installed,
      pool: { threads: this.workers + 1, workers } as unknown as PoolStats,
    } as MiddlewareStats;
  }
  requestStop() {}
  clearStop() {}
}

const choice = { on: true, threads: 'auto', affinity: 'off', spinMs: 20 } as const;
let middleware: FakeMiddleware;
let steps: string[];
let pool: EnginePool;
beforeEach(() => {
  vi.useFakeTimers();
  middleware = new FakeMiddleware();
  steps = [];
  pool = new EnginePool(middleware, silentLogger, {
    now: Date.now,
    changed: ({ step }: SleepStatus) => steps.push(step),
  });
  pool.apply(false, choice);
});
afterEach(() => {
  pool.close();
  vi.useRealTimers();
});

it('sleeping workers really begin to spin, and after 5 s sleep with the configured budget and governor', () => {
  const began = Date.now();
  expect(pool.spinDemo()).toEqual({ ok: true, data: { endsAt: began + 5000 } });
  expect(middleware.stats().pool?.workers).toMatchObject([{ state: 'spinning' }]);
  expect(pool.sleep?.step, 'the pill tells it').toBe('spinning');
  vi.advanceTimersByTime(4999);
  expect(middleware.spinMs).toBe('always');
  expect(pool.spinDemo(), 'asked again it does not go on for longer').toMatchObject({ data: { endsAt: began + 5000 } });
  vi.advanceTimersByTime(1);
  expect([middleware.spinMs, middleware.govern]).toEqual([20, true]);
  expect(steps.slice(0, 2)).toEqual(['spinning', 'asleep']);
});

it('a change of the pool or the end of the app ends it: nothing spins for ever', () => {
  pool.spinDemo();
  pool.apply(false, { ...choice, spinMs: 3 });
  expect([middleware.spinMs, middleware.govern]).toEqual([3, true]);
  vi.advanceTimersByTime(10_000);
  expect(middleware.spinMs, 'the end of the demonstration does not undo the change').toBe(3);
  pool.spinDemo();
  pool.close();
  expect(middleware.spinMs).toBe(3);
  expect(vi.getTimerCount()).toBe(0);
});

it('should the new pool not come about, the workers sleep all the same and the app goes on', () => {
  pool.spinDemo();
  middleware.failing = true;
  vi.advanceTimersByTime(5000);
  expect(middleware.spinMs).toBe(20);
});

it('is refused in words without a pool or without workers, and changes nothing', () => {
  middleware.workers = 0;
  expect(pool.spinDemo()).toMatchObject({ ok: false, error: { code: 'pool_not_installed' } });
  pool.apply(false, { ...choice, on: false });
  const refused = pool.spinDemo();
  expect(refused).toMatchObject({ ok: false, error: { code: 'pool_not_installed' } });
  expect(middleware.spinMs).toBe(20);
  const missing = new EnginePool({ missing: 'not built' }, silentLogger, { now: Date.now, changed: () => undefined });
  expect(missing.spinDemo()).toMatchObject({ ok: false });
});
