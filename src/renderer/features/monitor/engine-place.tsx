import type { EngineStatus, PlacementStatus } from '../../../main/contract/index.ts';
import { formatBytes } from '../../lib/format.ts';
import { useAppState, useEngine } from '../../state/index.ts';
import { en } from './en.ts';

/** Which card computes and why, and what of the model lies where. Nothing before llama.cpp was started. */
export function EnginePlace() {
  const gpu = useEngine((engine) => engine.status?.gpu ?? null);
  const placement = useEngine((engine) => engine.status?.placement ?? null);
  if (gpu === null) return null;
  return (
    <div className="panel-place">
      <h3>{en.place}</h3>
      {placement === null ? null : <p>{placeLine(placement)}</p>}
      <GpuChoice devices={gpu.devices} />
      {gpu.reason === null ? null : <p className="card-hint">{[gpu.reason, gpu.hint].filter(Boolean).join(' ')}</p>}
      {placement?.why.map((why) => (
        <p key={why} className="card-hint">
          {why}
        </p>
      ))}
    </div>
  );
}

/** A choice where there is one; the model is loaded again on the card that is taken. */
function GpuChoice({ devices }: { readonly devices: NonNullable<EngineStatus['gpu']>['devices'] }) {
  const { engine } = useAppState();
  if (devices.length < 2) return null;
  const used = devices.find((device) => device.used)?.name ?? '';
  return (
    <label className="panel-gpu">
      <span>{en.gpuChoice}</span>
      <select value={used} onChange={({ target }) => void engine.chooseGpu(target.value)}>
        {devices.map(({ name, description }) => (
          <option key={name} value={name}>
            {`${name}: ${description}`}
          </option>
        ))}
      </select>
    </label>
  );
}

/** `Experts 15.8 GB in RAM, the rest 2.1 GB on CUDA0: …`. */
export function placeLine({ device, ram, gpu }: PlacementStatus): string {
  if (device === null) return en.allInRam(formatBytes(ram.experts + ram.dense));
  const rest = formatBytes(gpu.dense + gpu.experts);
  if (ram.experts === 0) return en.onGpu(rest, device);
  return gpu.experts === 0
    ? en.expertsInRam(formatBytes(ram.experts), rest, device)
    : en.someExpertsInRam(formatBytes(ram.experts), formatBytes(gpu.experts), formatBytes(gpu.dense), device);
}
