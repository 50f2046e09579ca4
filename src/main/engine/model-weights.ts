import { tensorBytes } from './ggml-types.ts';
import type { ModelWeights } from './placement.ts';

type Tensor = {
  readonly name: string;
  readonly dimensions: readonly (number | bigint)[];
  readonly ggmlType: number;
};

/** The same tensors that the native wrapper keeps in RAM (src/native/ggml/gpu-devices.cc). */
const expertTensor = /^blk\.\d+\.ffn_(?:gate_up|gate|up|down)_(?:ch)?exps\./;

/**
 * Adds up a model's tensors by layer and kind.
 * @param architecture the values of `<architecture>.*` in the file's header.
 */
export function modelWeights(
  tensors: readonly Tensor[],
  architecture: Readonly<Record<string, unknown>>,
  layerCount: number,
): ModelWeights {
  const layers = Array.from({ length: layerCount }, () => ({ denseBytes: 0, expertBytes: 0 }));
  let inputBytes = 0;
  let outputBytes = 0;
  let tiedBytes = 0;
  let vocabulary = 0;
  for (const { name, dimensions, ggmlType } of tensors) {
    const bytes = tensorBytes(ggmlType, dimensions) ?? 0;
    const layer = layers[Number(/^blk\.(\d+)\./.exec(name)?.[1] ?? Number.NaN)];
    if (layer !== undefined) layer[expertTensor.test(name) ? 'expertBytes' : 'denseBytes'] += bytes;
    else if (/^(token_embd|position_embd|token_types)/.test(name)) inputBytes += bytes;
    else outputBytes += bytes;
    if (name === 'token_embd.weight') {
      tiedBytes = bytes;
      vocabulary = Number(dimensions[1] ?? 0);
    }
  }
  // Without an output matrix llama.cpp puts a copy of the embedding where the output is.
  if (!tensors.some(({ name }) => name === 'output.weight')) outputBytes += tiedBytes;
  const attention = record(architecture['attention']);
  const width = number(architecture['embedding_length']) ?? 0;
  const heads = Math.max(1, ...numbers(attention['head_count'], layerCount));
  return {
    inputBytes,
    outputBytes,
    layers,
    kvValuesPerToken: kvValues(architecture, attention, layerCount, width / heads),
    vocabulary,
    width,
    heads,
  };
}

function kvValues(
  architecture: Readonly<Record<string, unknown>>,
  attention: Readonly<Record<string, unknown>>,
  layerCount: number,
  headSize: number,
): number[] {
  // Latent attention caches one compressed row, and the rotated part of the key.
  const latent = number(attention['kv_lora_rank']);
  if (latent !== undefined) {
    const rotated = number(record(architecture['rope'])['dimension_count']) ?? 0;
    return Array.from({ length: layerCount }, () => latent + rotated);
  }
  const key = number(attention['key_length']) ?? headSize;
  const value = number(attention['value_length']) ?? headSize;
  const heads = attention['head_count_kv'] ?? attention['head_count'];
  return numbers(heads, layerCount).map((count) => count * (key + value));
}

/** A value per layer: files give one for all, or a list. */
function numbers(value: unknown, count: number): number[] {
  const list = Array.isArray(value) ? value.map((each) => number(each) ?? 0) : null;
  const one = number(value) ?? 1;
  return Array.from({ length: count }, (_, index) => (list === null ? one : (list[index] ?? 0)));
}

function number(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
