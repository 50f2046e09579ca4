/**
 * Writes the bench's model into a folder, unless it is there: a qwen3moe with random weights, of the width of a real one
 * but with few layers, and with the built-in model's tokenizer. Arguments: `q4_k` or `q8_0`, the built-in model, the
 * folder. Prints one line of JSON, a `MadeModel`.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { ggufHeader, halfOf, padded, readEntries, tensorSize, text, uint32 } from '../support/gguf.ts';
import type { TensorSpec } from '../support/gguf.ts';

export type MadeModel = {
  readonly path: string;
  /** Size of the file. */
  readonly bytes: number;
  /** Weights that one token reads: dense matrices and the experts in use. */
  readonly bytesPerToken: number;
  readonly made: boolean;
};

type Quantization = 'q4_k' | 'q8_0';

/** Bump when anything below changes: the file's name carries it. */
const revision = 2;
const seed = 2026;
const width = 2048;
const hidden = 768;
const experts = 64;
const used = 8;
const heads = 32;
const keyHeads = 4;
const headSize = 128;
const vocabulary = 2048;
/** About 0.7 GB and 1 GB. */
const layersOf = { q4_k: 4, q8_0: 3 } as const;
const chunkBytes = 144 * 34 * 1024;

/** Weights of `gain / sqrt(row length)`: a unit input gives an output of about `gain`. */
function matrix(type: Quantization, gain: number, name: string, ...shape: number[]): TensorSpec {
  return { name, shape, type, fill: { random: gain / Math.sqrt(shape[0] ?? 1) } };
}

const norm = (name: string, size: number, value = 1): TensorSpec => ({
  name,
  shape: [size],
  type: 'f32',
  fill: { constant: value },
});

/** Sharp attention and strong layers against a weak embedding: the text depends on all that was said, and goes on changing. */
function tensorsOf(type: Quantization): TensorSpec[] {
  const make = (gain: number, name: string, ...shape: number[]) => matrix(type, gain, name, ...shape);
  const tensors = [
    make(0.3 * Math.sqrt(width), 'token_embd.weight', width, vocabulary),
    norm('output_norm.weight', width),
    make(1, 'output.weight', width, vocabulary),
  ];
  for (let layer = 0; layer < layersOf[type]; layer++) {
    const block = `blk.${layer}.`;
    tensors.push(
      norm(`${block}attn_norm.weight`, width),
      make(1, `${block}attn_q.weight`, width, heads * headSize),
      make(1, `${block}attn_k.weight`, width, keyHeads * headSize),
      make(1, `${block}attn_v.weight`, width, keyHeads * headSize),
      make(1, `${block}attn_output.weight`, heads * headSize, width),
      norm(`${block}attn_q_norm.weight`, headSize, 3),
      norm(`${block}attn_k_norm.weight`, headSize),
      norm(`${block}ffn_norm.weight`, width),
      { name: `${block}ffn_gate_inp.weight`, shape: [width, experts], type: 'f32', fill: { random: 0.08 } },
      make(1, `${block}ffn_gate_exps.weight`, width, hidden, experts),
      make(1, `${block}ffn_up_exps.weight`, width, hidden, experts),
      make(4, `${block}ffn_down_exps.weight`, hidden, width, experts),
    );
  }
  return tensors;
}

/** Marsaglia's xorshift32 over whole buffers. */
class Random {
  #state = seed;

  fill(words: Int32Array): void {
    let state = this.#state;
    for (let index = 0; index < words.length; index++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      words[index] = state;
    }
    this.#state = state;
  }
}

/** Bytes 0 to 15 of a Q4_K block: scales of 32 to 63, each minimum 7.5 times its scale, so that the mean is 0. */
function writeHeadQ4k(data: Buffer, at: number, deviation: number): void {
  // A nibble's standard deviation is 4.61, the mean scale 43.5.
  data.writeUInt16LE(halfOf(deviation / 4.61 / 43.5), at);
  data.writeUInt16LE(halfOf((7.5 * deviation) / 4.61 / 43.5), at + 2);
  const high = 0b10 << 6;
  for (let index = 0; index < 4; index++) {
    const random = data.readUInt8(at + 4 + index);
    const low = 32 | (random & 31);
    const nibble = (random >> 4) & 15;
    data.writeUInt8(low | high, at + 4 + index);
    data.writeUInt8(low | high, at + 8 + index);
    data.writeUInt8(nibble | (nibble << 4), at + 12 + index);
  }
}

/** @param data a whole number of blocks, filled with random bits. */
function shape(data: Buffer, type: TensorSpec['type'], size: number): void {
  if (type === 'q4_k') {
    for (let at = 0; at < data.length; at += 144) writeHeadQ4k(data, at, size);
  } else if (type === 'q8_0') {
    // The standard deviation of a byte is 73.9.
    const scale = halfOf(size / 73.9);
    for (let at = 0; at < data.length; at += 34) data.writeUInt16LE(scale, at);
  } else {
    for (let at = 0; at < data.length; at += 4) data.writeFloatLE((data.readInt32LE(at) / 2 ** 31) * size, at);
  }
}

async function writeTensor(file: FileHandle, tensor: TensorSpec, random: Random, buffer: ArrayBuffer): Promise<void> {
  const total = tensorSize(tensor);
  for (let done = 0; done < total; done += chunkBytes) {
    const size = Math.min(chunkBytes, total - done);
    const data = Buffer.from(buffer, 0, size);
    if ('constant' in tensor.fill) {
      for (let at = 0; at < size; at += 4) data.writeFloatLE(tensor.fill.constant, at);
    } else {
      random.fill(new Int32Array(buffer, 0, Math.ceil(size / 4)));
      shape(data, tensor.type, tensor.fill.random);
    }
    await file.writeFile(data);
  }
  await file.writeFile(Buffer.alloc(padded(total) - total));
}

function metadata(builtin: string, layers: number): ReturnType<typeof readEntries> {
  const entries = readEntries(readFileSync(builtin));
  entries.set('general.name', text('Dormouse Bench'));
  const values = {
    context_length: 8192,
    embedding_length: width,
    block_count: layers,
    feed_forward_length: hidden,
    expert_count: experts,
    expert_used_count: used,
    expert_feed_forward_length: hidden,
    'attention.head_count': heads,
    'attention.head_count_kv': keyHeads,
    'attention.key_length': headSize,
    'attention.value_length': headSize,
    'rope.dimension_count': headSize,
  };
  for (const [key, value] of Object.entries(values)) entries.set(`qwen3moe.${key}`, uint32(value));
  return entries;
}

function bytesPerToken(tensors: readonly TensorSpec[]): number {
  let bytes = 0;
  for (const tensor of tensors) {
    if (tensor.name === 'token_embd.weight' || 'constant' in tensor.fill) continue;
    bytes += tensorSize(tensor) * (tensor.name.includes('_exps.') ? used / experts : 1);
  }
  return bytes;
}

async function make(type: Quantization, builtin: string, folder: string): Promise<MadeModel> {
  const tensors = tensorsOf(type);
  const layers = layersOf[type];
  const header = ggufHeader(metadata(builtin, layers), tensors);
  const bytes = tensors.reduce((sum, tensor) => sum + padded(tensorSize(tensor)), header.length);
  const path = join(folder, `qwen3moe-${layers}x${experts}-${type}-${seed}-${revision}.gguf`);
  if (existsSync(path) && statSync(path).size === bytes) {
    return { path, bytes, bytesPerToken: bytesPerToken(tensors), made: false };
  }
  mkdirSync(folder, { recursive: true });
  const part = `${path}.${process.pid}`;
  try {
    const file = await open(part, 'w');
    try {
      await file.writeFile(header);
      const random = new Random();
      const buffer = new ArrayBuffer(chunkBytes);
      for (const tensor of tensors) await writeTensor(file, tensor, random, buffer);
    } finally {
      await file.close();
    }
    renameSync(part, path);
  } finally {
    rmSync(part, { force: true });
  }
  return { path, bytes, bytesPerToken: bytesPerToken(tensors), made: true };
}

const [type, builtin, folder] = process.argv.slice(2);
if ((type !== 'q4_k' && type !== 'q8_0') || builtin === undefined || folder === undefined) {
  throw new Error('make-model: q4_k or q8_0, the built-in model, a folder');
}
process.stdout.write(`${JSON.stringify(await make(type, builtin, folder))}\n`);
