import type { LadderStatus, TelemetrySample } from '../../../main/contract/index.ts';
import { formatCores, formatSeconds, formatSince } from '../../lib/format.ts';
import { en } from './en.ts';

export interface Headline {
  readonly step: string;
  /** Null where nobody knows. */
  readonly since: string | null;
  readonly cores: string;
  readonly coresUnit: string;
  readonly remark: string;
  /** Awake steps are amber, the others blue. */
  readonly awake: boolean;
}

/** The figure this app is about, and what the engine does. `ladder` is newer than the sample where both tell a step. */
export function headlineOf(ladder: LadderStatus | null, sample: TelemetrySample, now: number): Headline {
  const step = ladder?.step ?? sample.ladder;
  const awake = step === 'computing' || step === 'spinning' || step === 'waking';
  const waking = step === 'waking' && ladder !== null;
  const measured = sample.coresLast10s;
  return {
    step: waking ? `${en.steps.waking} · ${formatSeconds(Math.max(0, sample.at - ladder.since))}` : en.steps[step],
    since: ladder === null ? null : en.since(formatSince(ladder.since, now)),
    cores: formatCores(measured ?? sample.appCores),
    coresUnit: measured === null ? en.coresMeasuring : en.coresLast10s,
    remark: remarkOf(ladder),
    awake,
  };
}

function remarkOf(ladder: LadderStatus | null): string {
  if (ladder === null) return '';
  const woke = ladder.wokeInMs === null ? '' : ` ${en.wokeIn(formatSeconds(ladder.wokeInMs))}`;
  if (ladder.step === 'hibernated') return `${en.hibernatedText}${woke}`;
  if (ladder.idleUnloadMinutes === null) return `${en.neverHibernates}${woke}`;
  return `${en.hibernates(String(Number(ladder.idleUnloadMinutes.toFixed(1))))}${woke}`;
}

/** Times that workers were woken, in all samples. */
export function wakesIn(samples: readonly TelemetrySample[]): number {
  return samples.reduce((sum, { workers }) => sum + workers.reduce((all, { wakes }) => all + wakes, 0), 0);
}

/** The last speed that was told, for the time when no answer is written. */
export function lastSpeed(
  samples: readonly TelemetrySample[],
  key: 'tokensPerSecond' | 'promptTokensPerSecond',
): number | null {
  return samples.findLast(({ engine }) => engine[key] !== null)?.engine[key] ?? null;
}
