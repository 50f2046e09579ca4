import { memo } from 'react';
import type { TelemetrySample } from '../../../main/contract/index.ts';
import { formatBytes, formatCores, formatPercent, formatSpeed, formatTenths } from '../../lib/format.ts';
import { en } from './en.ts';

const { columns, nothing } = en;

/** The same as the pictures, in words and numbers. */
export function SamplesTable({ samples }: { readonly samples: readonly TelemetrySample[] }) {
  const last = samples.at(-1);
  return (
    <>
      <div className="card table-card">
        <table className="table numbers">
          <caption>{en.tableSamples}</caption>
          <thead>
            <tr>
              <Heads
                names={[
                  ...[columns.time, columns.step, columns.appCores, columns.poolCores, columns.decode],
                  ...[columns.prefill, columns.busiest, columns.gpu, columns.vram, columns.memory, columns.wakes],
                ]}
              />
            </tr>
          </thead>
          <tbody>
            {[...samples].reverse().map((sample) => (
              <SampleRow key={sample.at} sample={sample} />
            ))}
          </tbody>
        </table>
      </div>
      {last === undefined ? null : (
        <div className="table-pair">
          <WorkersTable workers={last.workers} />
          <CoresTable cores={last.cores} />
        </div>
      )}
    </>
  );
}

/** Samples never change, so only the new row is drawn. */
const SampleRow = memo(function SampleRow({ sample }: { readonly sample: TelemetrySample }) {
  const { at, ladder, appCores, poolCores, engine, cores, gpus, memory, workers } = sample;
  const [gpu] = gpus;
  const speed = (value: number | null) => (value === null ? nothing : formatSpeed(value));
  const vram = gpu?.memoryUsedBytes ?? null;
  return (
    <tr>
      <th scope="row">{formatTenths(at)}</th>
      <td>{en.steps[ladder]}</td>
      <td>{formatCores(appCores)}</td>
      <td>{formatCores(poolCores)}</td>
      <td>{speed(engine.tokensPerSecond)}</td>
      <td>{speed(engine.promptTokensPerSecond)}</td>
      <td>{cores.length === 0 ? nothing : formatPercent(Math.max(...cores))}</td>
      <td>{gpu?.utilization === undefined || gpu.utilization === null ? nothing : formatPercent(gpu.utilization)}</td>
      <td>{vram === null ? nothing : formatBytes(vram)}</td>
      <td>{formatBytes(memory.rssBytes)}</td>
      <td>{workers.reduce((sum, { wakes }) => sum + wakes, 0)}</td>
    </tr>
  );
});

function WorkersTable({ workers }: Pick<TelemetrySample, 'workers'>) {
  if (workers.length === 0) return null;
  return (
    <div className="card table-card">
      <table className="table numbers">
        <caption>{en.tableWorkers}</caption>
        <thead>
          <tr>
            <Heads
              names={[
                ...[columns.thread, columns.state, columns.computing, columns.spinning],
                ...[columns.asleep, columns.cpu, columns.wakes],
              ]}
            />
          </tr>
        </thead>
        <tbody>
          {workers.map(({ id, state, benched, busyMs, spinMs, asleepMs, cpuMs, wakes }) => (
            <tr key={id}>
              <th scope="row">{id}</th>
              <td>{benched ? `${en.states[state]}, ${en.benched}` : en.states[state]}</td>
              {[busyMs, spinMs, asleepMs, cpuMs].map((value, at) => (
                <td key={at}>{value.toFixed(0)}</td>
              ))}
              <td>{wakes}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function CoresTable({ cores }: Pick<TelemetrySample, 'cores'>) {
  if (cores.length === 0) return null;
  return (
    <div className="card table-card">
      <table className="table numbers">
        <caption>{en.tableCores}</caption>
        <thead>
          <tr>
            <Heads names={[columns.core, columns.load]} />
          </tr>
        </thead>
        <tbody>
          {cores.map((load, at) => (
            <tr key={at}>
              <th scope="row">{at}</th>
              <td>{formatPercent(load)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Heads({ names }: { readonly names: readonly string[] }) {
  return names.map((name) => (
    <th key={name} scope="col">
      {name}
    </th>
  ));
}
