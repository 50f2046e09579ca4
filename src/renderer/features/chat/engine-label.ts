import type { EngineStatus, SleepStatus } from '../../../main/contract/index.ts';
import { formatCount, formatPercent } from '../../lib/format.ts';
import { en } from './en.ts';

/** What the status pill says. */
export function engineLabel(status: EngineStatus | null): string {
  if (status === null) return en.pill.unknown;
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
