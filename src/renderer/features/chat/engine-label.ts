import type { EngineStatus, LadderStatus, SleepStatus } from '../../../main/contract/index.ts';
import { formatCount, formatPercent, formatSeconds } from '../../lib/format.ts';
import { en } from './en.ts';

/** What the status pill says. @param now Unix ms, for how long a wake has taken. */
export function engineLabel(status: EngineStatus | null, ladder: LadderStatus | null = null, now = 0): string {
  if (status === null) return en.pill.unknown;
  switch (ladderShown(status, ladder)) {
    case 'hibernated':
      return en.pill.hibernated;
    case 'waking':
      return en.pill.waking(ladder === null || now < ladder.since ? null : formatSeconds(now - ladder.since));
    case null:
      return stateLabel(status);
  }
}

/** The two steps that the engine's own state cannot tell from an engine without a model, or one that loads its first. */
export function ladderShown(status: EngineStatus, ladder: LadderStatus | null): 'hibernated' | 'waking' | null {
  const { state } = status;
  if (ladder?.step === 'hibernated') return state === 'empty' || state === 'ready' ? 'hibernated' : null;
  if (ladder?.step === 'waking') return state === 'failed' || state === 'generating' ? null : 'waking';
  return null;
}

function stateLabel(status: EngineStatus): string {
  switch (status.state) {
    case 'empty':
      return en.pill.empty;
    case 'loading':
      return en.pill.loading(status.loadProgress === null ? null : formatPercent(status.loadProgress));
    case 'ready':
      return restLabel(status.sleep);
    case 'prefill':
      return status.prefill === null || status.prefill.total === 0
        ? en.pill.prefillUnknown
        : en.pill.prefill(formatCount(status.prefill.done), formatCount(status.prefill.total));
    case 'generating':
      return en.pill.generating(status.tokensPerSecond === null ? null : formatCount(status.tokensPerSecond));
    case 'unloading':
      return en.pill.unloading;
    case 'failed':
      return en.pill.failed;
  }
}

/** Without a pool nobody knows what the threads do, so nothing is said of sleep. */
function restLabel(sleep: SleepStatus | null): string {
  if (sleep === null) return en.pill.ready;
  switch (sleep.step) {
    case 'computing':
    case 'spinning':
      return en.pill.fallingAsleep;
    case 'asleep':
      return sleep.cores === null ? en.pill.asleep : en.pill.asleepAt(sleep.cores.toFixed(2));
  }
}
