import { Moon, Zap } from 'lucide-react';
import type { TelemetrySample } from '../../../main/contract/index.ts';
import { formatCores, formatCount, formatPercent, formatSeconds, formatSpeed } from '../../lib/format.ts';
import { useEngine } from '../../state/index.ts';
import { en } from './en.ts';
import { headlineOf, lastSpeed, wakesIn } from './engine-words.ts';

interface HeadlineProps {
  readonly samples: readonly TelemetrySample[];
  readonly sample: TelemetrySample;
  readonly range: number;
}

/** The step of the ladder with the figure this app is about, and the engine's figures beside it. */
export function Headline({ samples, sample, range }: HeadlineProps) {
  const ladder = useEngine((engine) => engine.ladder);
  const words = headlineOf(ladder, sample, sample.at);
  return (
    <div className="tiles">
      <section className="card headline" aria-label={en.panel}>
        <StepAndCores {...words} />
        <p className="tile-note">{words.remark}</p>
      </section>
      <Facts samples={samples} sample={sample} range={range} />
    </div>
  );
}

/** The step, since when, and what it costs. */
export function StepAndCores({ step, since, cores, coresUnit, awake }: ReturnType<typeof headlineOf>) {
  const Icon = awake ? Zap : Moon;
  return (
    <>
      <p className={awake ? 'headline-step headline-awake' : 'headline-step'}>
        <Icon size={14} aria-hidden="true" />
        <strong>{step}</strong>
        {since === null ? null : <span>{since}</span>}
      </p>
      <p className="figure numbers">
        <strong>{cores}</strong> {coresUnit}
      </p>
    </>
  );
}

function Facts({ samples, sample, range }: HeadlineProps) {
  const { engine, appCores, poolCores } = sample;
  const used = engine.contextUsed;
  const size = engine.contextSize;
  const known = used !== null && size !== null && size > 0;
  return (
    <dl className="facts" aria-label={en.facts}>
      <Tile
        label={en.cpuNow}
        value={formatCores(appCores)}
        unit={en.cores1}
        note={en.cpuPool(formatCores(poolCores))}
      />
      <SpeedTile label={en.decode} now={engine.tokensPerSecond} last={lastSpeed(samples, 'tokensPerSecond')} />
      <SpeedTile
        label={en.prefill}
        now={engine.promptTokensPerSecond}
        last={lastSpeed(samples, 'promptTokensPerSecond')}
      />
      <Tile
        label={en.firstToken}
        value={engine.timeToFirstTokenMs === null ? en.nothing : formatSeconds(engine.timeToFirstTokenMs)}
        note={en.lastAnswer}
      />
      <Tile
        label={en.context}
        value={known ? formatPercent(used / size) : en.nothing}
        note={known ? en.contextOf(formatCount(used), formatCount(size)) : en.noContext}
      />
      <Tile label={en.wakes} value={formatCount(wakesIn(samples))} note={en.wakesIn(range)} />
    </dl>
  );
}

interface SpeedTileProps {
  readonly label: string;
  /** Tokens per second; null while none are made. */
  readonly now: number | null;
  readonly last: number | null;
}

function SpeedTile({ label, now, last }: SpeedTileProps) {
  if (now !== null) return <Tile label={label} value={formatSpeed(now)} unit={en.tokensPerSecond} note="" />;
  return (
    <Tile
      label={label}
      value={en.nothing}
      unit={en.tokensPerSecond}
      note={last === null ? '' : en.lastSpeed(formatSpeed(last))}
    />
  );
}

interface TileProps {
  readonly label: string;
  readonly value: string;
  readonly unit?: string;
  readonly note: string;
}

function Tile({ label, value, unit, note }: TileProps) {
  return (
    <div className="card tile">
      <dt>{label}</dt>
      <dd>
        <p className="figure numbers">
          <strong>{value}</strong> {unit}
        </p>
        <p className="tile-note numbers">{note}</p>
      </dd>
    </div>
  );
}
