import { memo } from 'react';
import { Area, ComposedChart, Line, ReferenceArea, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { RequestMark, TelemetrySample } from '../../../main/contract/index.ts';
import { chartData, sameChart, type ChartData, type ChartSeries } from './chart-data.ts';
import { en } from './en.ts';
import { useSteady } from './use-steady.ts';

const height = 112;

interface TimeChartProps {
  readonly title: string;
  /** The newest value in words, beside the title. */
  readonly now: string;
  readonly samples: readonly TelemetrySample[];
  readonly marks: readonly RequestMark[];
  /** Seconds. */
  readonly range: number;
  readonly series: readonly ChartSeries[];
  readonly top?: number | null;
  readonly leastTop?: number;
  readonly format: (value: number) => string;
}

/** One measure over time. recharts gets new data only when a pixel would change. */
export function TimeChart(props: TimeChartProps) {
  const { title, now, samples, marks, range, series, top = null, leastTop = 1, format } = props;
  const data = useSteady(chartData({ samples, marks, range, series, top, leastTop }), (one, other) =>
    sameChart(one, other, height),
  );
  return (
    <section className="card chart-card" aria-label={title}>
      <div className="card-head">
        <h2>{title}</h2>
        <p className="card-hint numbers">{now}</p>
      </div>
      <Chart title={title} data={data} range={range} series={series} format={format} />
      {series.length > 1 ? <SeriesLegend series={series} /> : null}
    </section>
  );
}

interface ChartProps {
  readonly title: string;
  readonly data: ChartData;
  readonly range: number;
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
}

const Chart = memo(function Chart({ title, data, range, series, format }: ChartProps) {
  return (
    <div className="chart">
      <ResponsiveContainer width="100%" height={height} initialDimension={{ width: 260, height }}>
        <ComposedChart data={data.points} margin={{ top: 7, right: 2, bottom: 2, left: 0 }} title={title}>
          <XAxis
            dataKey="x"
            type="number"
            domain={[-range, 0]}
            ticks={[-range, -range / 2, 0]}
            tick={<EdgeTick range={range} />}
            tickLine={false}
            axisLine={{ stroke: 'var(--line)' }}
            height={18}
            interval={0}
          />
          <YAxis
            domain={[0, data.top]}
            ticks={[0, data.top / 2, data.top]}
            tick={<ValueTick format={format} />}
            tickLine={false}
            axisLine={false}
            width={48}
            interval={0}
          />
          {data.requests.map(({ id, from, to }) => (
            <ReferenceArea key={id} x1={from} x2={to} fill="var(--teal)" fillOpacity={0.1} strokeOpacity={0} />
          ))}
          <Tooltip
            isAnimationActive={false}
            cursor={{ stroke: 'var(--line-strong)' }}
            contentStyle={tooltipStyle}
            labelFormatter={(x) => en.ago(Math.round(-Number(x)))}
            formatter={(value, name) => [format(Number(value)), name]}
          />
          {series.map(({ key, label, look }) =>
            look === 'area' ? (
              <Area key={key} {...common} dataKey={key} name={label} stroke="var(--accent)" fill="var(--accent-bg)" />
            ) : (
              <Line key={key} {...common} dataKey={key} name={label} {...strokes[look]} />
            ),
          )}
        </ComposedChart>
      </ResponsiveContainer>
    </div>
  );
});

const common = { type: 'linear', dot: false, activeDot: false, isAnimationActive: false, strokeWidth: 1.5 } as const;
const strokes = {
  line: { stroke: 'var(--accent)' },
  dashed: { stroke: 'var(--moon)', strokeDasharray: '4 3' },
  teal: { stroke: 'var(--teal)' },
  moon: { stroke: 'var(--moon)' },
} as const;
const tooltipStyle = {
  padding: '4px 8px',
  border: '1px solid var(--line)',
  borderRadius: 8,
  background: 'var(--card)',
  fontSize: 12,
} as const;

interface EdgeTickProps {
  readonly range: number;
  readonly x?: number | string;
  readonly y?: number | string;
  readonly payload?: { readonly value: number };
}

interface ValueTickProps {
  readonly format: (value: number) => string;
  readonly x?: number | string;
  readonly y?: number | string;
  readonly payload?: { readonly value: number };
}

/** On one line, beside the drawing. */
function ValueTick({ format, x = 0, y = 0, payload }: ValueTickProps) {
  return (
    <text x={x} y={Number(y) + 4} textAnchor="end" fill="var(--faint)" fontSize={10.5}>
      {format(payload?.value ?? 0)}
    </text>
  );
}

/** The outer labels stay inside of the chart. */
function EdgeTick({ range, x = 0, y = 0, payload }: EdgeTickProps) {
  const value = payload?.value ?? 0;
  const anchor = value === 0 ? 'end' : value === -range ? 'start' : 'middle';
  return (
    <text x={x} y={Number(y) + 10} textAnchor={anchor} fill="var(--faint)" fontSize={10.5}>
      {value === 0 ? en.now : en.ago(-value)}
    </text>
  );
}

function SeriesLegend({ series }: { readonly series: readonly ChartSeries[] }) {
  return (
    <ul className="legend">
      {series.map(({ key, label, look }) => (
        <li key={key}>
          <span className={`stroke stroke-${look}`} aria-hidden="true" />
          {label}
        </li>
      ))}
    </ul>
  );
}
