import type { TelemetrySample } from '../../../main/contract/index.ts';
import { formatBytes, formatCores, formatPercent, formatSpeed } from '../../lib/format.ts';
import { useTelemetry } from '../../state/index.ts';
import type { ChartSeries } from './chart-data.ts';
import { en } from './en.ts';
import { lastSpeed } from './engine-words.ts';
import { TimeChart } from './time-chart.tsx';
import { useSteady } from './use-steady.ts';
import type { TimedView } from './worker-strips.tsx';

interface TimeChartsProps {
  readonly view: TimedView;
  readonly range: number;
  readonly sample: TelemetrySample;
}

/** recharts takes many times what the canvases take, and half a second is half a pixel of its lines. */
const leastMsBetweenDrawings = 900;

/** What Dormouse takes of this computer, over time. */
export function TimeCharts(props: TimeChartsProps) {
  const { view, range, sample } = useSteady(props, tooSoon);
  const { samples, marks } = view;
  const common = { samples, marks, range };
  const { memory, engine, appCores } = sample;
  const speed = engine.tokensPerSecond;
  return (
    <div className="charts">
      <TimeChart
        {...common}
        title={en.cpuChart}
        now={`${formatCores(appCores)} ${en.cpuUnit}`}
        series={cpuSeries}
        format={shortNumber}
      />
      <TimeChart
        {...common}
        title={en.speedChart}
        now={speedNow(samples, speed)}
        series={speedSeries}
        leastTop={5}
        format={shortNumber}
      />
      <TimeChart
        {...common}
        title={en.memoryChart}
        now={memoryNow(memory)}
        series={memorySeries}
        leastTop={256}
        format={megabytes}
      />
      <GpuCharts {...common} sample={sample} />
    </div>
  );
}

/** Samples that go back in time are others: a paused view that goes on, another range. */
function tooSoon(drawn: TimeChartsProps, now: TimeChartsProps): boolean {
  const passed = now.sample.at - drawn.sample.at;
  return drawn.range === now.range && passed >= 0 && passed < leastMsBetweenDrawings;
}

function speedNow(samples: readonly TelemetrySample[], now: number | null): string {
  const last = now ?? lastSpeed(samples, 'tokensPerSecond');
  if (last === null) return en.noAnswerYet;
  const words = `${formatSpeed(last)} ${en.tokensPerSecond}`;
  return now === null ? en.lastSpeed(words) : words;
}

function memoryNow({ rssBytes, totalBytes, modelBytes }: TelemetrySample['memory']): string {
  const used = en.ofTotal(formatBytes(rssBytes), formatBytes(totalBytes));
  return modelBytes === null ? used : `${used} · ${en.modelFile(formatBytes(modelBytes))}`;
}

interface GpuChartsProps extends Omit<TimedView, 'window'> {
  readonly range: number;
  readonly sample: TelemetrySample;
}

function GpuCharts({ sample, ...common }: GpuChartsProps) {
  const reason = useTelemetry((state) => state.gpuReason);
  const [gpu] = sample.gpus;
  const many = sample.gpus.length > 1;
  // New functions would be a new chart; the names tell whether it is one.
  const series = useSteady(many ? manyGpuSeries(sample) : gpuSeries, sameLabels);
  if (gpu === undefined) {
    return (
      <section className="card chart-card" aria-label={en.noGpuTitle}>
        <div className="card-head">
          <h2>{en.noGpuTitle}</h2>
        </div>
        <p className="card-empty">{reason ?? en.gpuUnknown}</p>
      </section>
    );
  }
  const [used, total] = [gpu.memoryUsedBytes, gpu.memoryTotalBytes];
  const facts = [
    gpu.utilization === null ? null : formatPercent(gpu.utilization),
    gpu.powerWatts === null ? null : en.watts(gpu.powerWatts.toFixed(0)),
    gpu.temperatureCelsius === null ? null : en.degrees(gpu.temperatureCelsius.toFixed(0)),
  ];
  return (
    <>
      {gpu.utilization === null ? null : (
        <TimeChart
          {...common}
          title={en.gpuChart}
          now={[...facts.filter((fact) => fact !== null), ...(many ? [] : [gpu.name])].join(' · ')}
          series={series}
          top={1}
          format={percent}
        />
      )}
      {used === null ? null : (
        <TimeChart
          {...common}
          title={en.vramChart}
          now={total === null ? formatBytes(used) : en.ofTotal(formatBytes(used), formatBytes(total))}
          series={vramSeries}
          top={total === null ? null : total / megabyte}
          leastTop={256}
          format={megabytes}
        />
      )}
    </>
  );
}

const megabyte = 2 ** 20;
const cpuSeries: readonly ChartSeries[] = [
  { key: 'app', label: en.all, look: 'area', valueOf: ({ appCores }) => appCores },
  { key: 'pool', label: en.pool, look: 'dashed', valueOf: ({ poolCores }) => poolCores },
];
const speedSeries: readonly ChartSeries[] = [
  { key: 'decode', label: en.decodeSeries, look: 'area', valueOf: ({ engine }) => engine.tokensPerSecond },
];
const memorySeries: readonly ChartSeries[] = [
  { key: 'rss', label: en.memorySeries, look: 'moon', valueOf: ({ memory }) => memory.rssBytes / megabyte },
];
const gpuSeries: readonly ChartSeries[] = [
  { key: 'gpu', label: en.gpuChart, look: 'teal', valueOf: ({ gpus }) => gpus[0]?.utilization ?? null },
];
const vramSeries: readonly ChartSeries[] = [
  {
    key: 'vram',
    label: en.vramChart,
    look: 'moon',
    valueOf: ({ gpus }) => (gpus[0]?.memoryUsedBytes === undefined ? null : inMegabytes(gpus[0].memoryUsedBytes)),
  },
];
const gpuLooks = ['teal', 'dashed', 'line', 'moon'] as const;

function manyGpuSeries({ gpus }: TelemetrySample): readonly ChartSeries[] {
  return gpus.slice(0, gpuLooks.length).map(({ name }, at) => ({
    key: `gpu${at}`,
    label: name,
    look: gpuLooks[at] ?? 'teal',
    valueOf: (sample) => sample.gpus[at]?.utilization ?? null,
  }));
}

function sameLabels(one: readonly ChartSeries[], other: readonly ChartSeries[]): boolean {
  return one.length === other.length && one.every(({ label }, at) => other[at]?.label === label);
}

function inMegabytes(bytes: number | null): number | null {
  return bytes === null ? null : bytes / megabyte;
}

function shortNumber(value: number): string {
  return String(Number(value.toFixed(value < 10 ? 2 : 1)));
}

function percent(share: number): string {
  return formatPercent(share);
}

function megabytes(value: number): string {
  return value === 0 ? '0' : formatBytes(value * megabyte);
}
