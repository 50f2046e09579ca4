import { describe, expect, it } from 'vitest';
import type { LadderStatus, TelemetryHistory } from '../../../src/main/contract/index.ts';
import { keptMs } from '../../../src/renderer/state/sample-ring.ts';
import { meanCores } from '../../../src/renderer/state/spin-demo.ts';
import { Telemetry } from '../../../src/renderer/state/telemetry.ts';
import { sampleAt } from '../../support/fake-telemetry.ts';
import { FakeBridge, deferred, refusal, settle } from './fixtures.ts';

const asleep: LadderStatus = { step: 'asleep', since: 0, wokeInMs: null, idleUnloadMinutes: 30 };
const history = (values: Partial<TelemetryHistory> = {}): TelemetryHistory => ({
  samples: [],
  marks: [],
  ladder: asleep,
  gpuReason: null,
  leaseMs: 10_000,
  ...values,
});

function build() {
  const bridge = new FakeBridge();
  bridge.answer('telemetry.watch', () => ({ ok: true, data: history() }));
  bridge.answer('telemetry.unwatch', () => ({ ok: true, data: {} }));
  let visible = true;
  let visibility: () => void = () => undefined;
  const timers: { readonly milliseconds: number; readonly done: () => void; cancelled: boolean }[] = [];
  const ladders: LadderStatus[] = [];
  const telemetry = new Telemetry({
    bridge,
    onLadder: (ladder) => ladders.push(ladder),
    tab: {
      isVisible: () => visible,
      onVisibility: (listener) => {
        visibility = listener;
        return () => undefined;
      },
      wait: (milliseconds, done) => {
        const timer = { milliseconds, done, cancelled: false };
        timers.push(timer);
        return () => (timer.cancelled = true);
      },
    },
  });
  telemetry.start();
  telemetry.connectionChanged('open');
  const show = (now: boolean) => {
    visible = now;
    visibility();
  };
  const waiting = () => timers.filter(({ cancelled }) => !cancelled);
  return { bridge, telemetry, show, waiting, ladders, state: () => telemetry.store.getState() };
}

async function watched() {
  const all = build();
  const detach = all.telemetry.attach();
  await settle();
  return { ...all, detach };
}

const times = (samples: readonly { readonly at: number }[]) => samples.map(({ at }) => at);

describe('watching', () => {
  it('asks for samples only while a view is there (bug: sampling goes on behind the chat)', async () => {
    const { bridge, telemetry, waiting, state } = build();
    await settle();
    expect(bridge.count('telemetry.watch')).toBe(0);
    const detach = telemetry.attach();
    await settle();
    expect([bridge.count('telemetry.watch'), state().phase]).toEqual([1, 'live']);
    detach();
    detach();
    await settle();
    expect([bridge.count('telemetry.unwatch'), waiting().length, state().phase]).toEqual([1, 0, 'off']);
  });

  it('keeps its lease when one view replaces another (bug: the lease ends and begins at every page change)', async () => {
    const { bridge, telemetry, detach } = await watched();
    detach();
    telemetry.attach();
    await settle();
    expect([bridge.count('telemetry.watch'), bridge.count('telemetry.unwatch')]).toEqual([1, 0]);
  });

  it('renews the lease before it ends (bug: the chart stops after leaseMs)', async () => {
    const { bridge, waiting } = await watched();
    expect(waiting()[0]!.milliseconds).toBeLessThan(10_000);
    waiting()[0]!.done();
    await settle();
    expect(bridge.count('telemetry.watch')).toBe(2);
  });

  it('stops while the page is hidden and begins again (bug: a hidden tab keeps the GPU awake)', async () => {
    const { bridge, show, waiting, telemetry, state } = await watched();
    show(false);
    expect([bridge.count('telemetry.unwatch'), waiting().length]).toEqual([1, 0]);
    telemetry.addSample(sampleAt(500));
    expect(state().samples).toEqual([]);
    show(true);
    await settle();
    expect(bridge.count('telemetry.watch')).toBe(2);
  });

  it('asks anew after the connection was lost (bug: a restarted main knows of no lease)', async () => {
    const { bridge, telemetry } = await watched();
    telemetry.connectionChanged('lost');
    telemetry.connectionChanged('connecting');
    await settle();
    expect(bridge.count('telemetry.watch')).toBe(1);
    telemetry.connectionChanged('open');
    await settle();
    expect([bridge.count('telemetry.watch'), bridge.count('telemetry.unwatch')]).toEqual([2, 0]);
  });

  it('says why main refused, and asks again (bug: an empty page for ever)', async () => {
    const { bridge, telemetry, waiting, state } = build();
    bridge.answer('telemetry.watch', () => refusal('internal', 'No luck'));
    telemetry.attach();
    await settle();
    expect([state().phase, state().error?.message]).toEqual(['failed', 'No luck']);
    bridge.answer('telemetry.watch', () => ({ ok: true, data: history() }));
    waiting()[0]!.done();
    await settle();
    expect([state().phase, state().error]).toEqual(['live', null]);
  });

  it('ignores the answer to a question from before (bug: two leases renewed side by side)', async () => {
    const { bridge, telemetry, show, waiting } = build();
    const slow = deferred<{ readonly ok: true; readonly data: TelemetryHistory }>();
    bridge.answer('telemetry.watch', () => slow.promise);
    telemetry.attach();
    await settle();
    show(false);
    slow.resolve({ ok: true, data: history({ samples: [sampleAt(500)] }) });
    await settle();
    expect(waiting()).toEqual([]);
  });
});

describe('samples', () => {
  it('joins main’s history with what came as events, each once and in order (bug: doubled or lost at the seam)', async () => {
    const { bridge, telemetry, waiting, state } = await watched();
    telemetry.addSample(sampleAt(2000));
    telemetry.addSample(sampleAt(2000));
    telemetry.addSample(sampleAt(2500));
    bridge.answer('telemetry.watch', () => ({
      ok: true,
      data: history({ samples: [1000, 1500, 2000].map((at) => sampleAt(at)) }),
    }));
    waiting()[0]!.done();
    await settle();
    expect(times(state().samples)).toEqual([1000, 1500, 2000, 2500]);
  });

  it('keeps what is newer than a late answer (bug: renewing the lease cuts the last seconds out)', async () => {
    const { bridge, telemetry, waiting, state } = await watched();
    for (let at = 500; at <= 10_000; at += 500) telemetry.addSample(sampleAt(at));
    bridge.answer('telemetry.watch', () => ({ ok: true, data: history({ samples: [sampleAt(500), sampleAt(1000)] }) }));
    waiting()[0]!.done();
    await settle();
    expect(state().samples.length).toBe(20);
  });

  it('keeps 120 s and no more, at any pace (bug: memory grows for as long as one looks)', async () => {
    const { telemetry, state } = await watched();
    for (let at = 0; at <= 10 * keptMs; at += 500) telemetry.addSample(sampleAt(at));
    expect(state().samples.length).toBe(240);
    expect(state().samples[0]!.at).toBeGreaterThan(9 * keptMs);
    for (let at = 0; at <= 4000; at += 1) telemetry.addSample(sampleAt(10 * keptMs + at));
    expect(state().samples.length).toBeLessThanOrEqual(480);
  });

  it('tells React once for each sample (bug: two renders at 2 Hz)', async () => {
    const { telemetry } = await watched();
    let updates = 0;
    telemetry.store.subscribe(() => (updates += 1));
    telemetry.addSample(sampleAt(500));
    telemetry.addSample(sampleAt(1000));
    expect(updates).toBe(2);
  });

  it('stands still while paused and shows all of it afterwards (bug: a hole where the pause was)', async () => {
    const { telemetry, state } = await watched();
    telemetry.addSample(sampleAt(500));
    telemetry.setPaused(true);
    telemetry.addSample(sampleAt(1000));
    telemetry.addMark({ id: 'r', source: 'chat', startedAt: 900, endedAt: null });
    expect([times(state().samples), state().marks]).toEqual([[500], []]);
    telemetry.setPaused(false);
    expect([times(state().samples), state().marks.length]).toEqual([[500, 1000], 1]);
  });

  it('begins anew when the clock was set back (bug: nothing is shown until it has caught up)', async () => {
    const { telemetry, state } = await watched();
    telemetry.addSample(sampleAt(100_000));
    telemetry.addSample(sampleAt(5000));
    expect(times(state().samples)).toEqual([5000]);
  });

  it('forgets marks that are out of view and those main no longer knows (bug: a request that runs for ever)', async () => {
    const { bridge, telemetry, waiting, state } = await watched();
    telemetry.addMark({ id: 'old', source: 'api', startedAt: 0, endedAt: 100 });
    telemetry.addMark({ id: 'lost', source: 'api', startedAt: 0, endedAt: null });
    telemetry.addSample(sampleAt(2 * keptMs));
    expect(state().marks.map(({ id }) => id)).toEqual(['lost']);
    const slow = deferred<{ readonly ok: true; readonly data: TelemetryHistory }>();
    bridge.answer('telemetry.watch', () => slow.promise);
    waiting()[0]!.done();
    await settle();
    telemetry.addMark({ id: 'new', source: 'chat', startedAt: 2 * keptMs, endedAt: null });
    slow.resolve({ ok: true, data: history() });
    await settle();
    expect(state().marks.map(({ id }) => id)).toEqual(['new']);
  });
});

describe('what spinning costs', () => {
  it('compares only samples that lie wholly on one side (bug: the edges blur the figure)', async () => {
    const { bridge, telemetry, state } = await watched();
    bridge.answer('telemetry.spinDemo', () => ({ ok: true, data: { endsAt: 15_250 } }));
    for (const at of [9500, 10_000]) telemetry.addSample(sampleAt(at, { appCores: 0.01 }));
    await telemetry.startDemo();
    telemetry.addSample(sampleAt(10_500, { appCores: 3 }));
    for (let at = 11_000; at <= 15_000; at += 500) telemetry.addSample(sampleAt(at, { appCores: 7 }));
    expect([state().demo?.secondsLeft, state().demo?.done]).toEqual([1, false]);
    telemetry.addSample(sampleAt(15_500, { appCores: 4 }));
    const { done, before, during } = state().demo!;
    expect([done, meanCores(before), meanCores(during)]).toEqual([true, 0.01, 7]);
    telemetry.addSample(sampleAt(16_000, { appCores: 0 }));
    expect(meanCores(state().demo!.during)).toBe(7);
  });

  it('shows main’s refusal (bug: a button that does nothing)', async () => {
    const { bridge, telemetry, state } = await watched();
    bridge.answer('telemetry.spinDemo', () => refusal('internal', 'Busy'));
    await telemetry.startDemo();
    expect([state().demo, state().demoError?.message]).toEqual([null, 'Busy']);
  });
});
