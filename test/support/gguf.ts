import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import process from 'node:process';

/** One metadata entry: its type number and its bytes as they lie in a file (GGUF 3, little-endian). */
export type Entry = { readonly type: number; readonly bytes: Buffer };

export type TensorSpec = {
  readonly name: string;
  /** Row length first. */
  readonly shape: readonly number[];
  readonly type: 'f32' | 'q8_0' | 'q4_k' | 'mxfp4';
  /** Value of every element of an f32 tensor, or largest size of a random one; of a q8_0 one, some rows may be zero. */
  readonly fill:
    { readonly constant: number } | { readonly random: number; readonly zeroRow?: (row: number) => boolean };
};

const typeNumber = { f32: 0, q8_0: 8, q4_k: 12, mxfp4: 39 } as const;
/** Bytes of 32 values. */
const blockBytes = { f32: 128, q8_0: 34, q4_k: 18, mxfp4: 17 } as const;
const alignment = 32;

/** Metadata of a GGUF file, entry by entry, without looking inside. */
export function readEntries(file: Buffer): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  const count = Number(file.readBigUInt64LE(16));
  let at = 24;
  for (let index = 0; index < count; index++) {
    const length = Number(file.readBigUInt64LE(at));
    const key = file.toString('utf8', at + 8, at + 8 + length);
    at += 8 + length;
    const type = file.readUInt32LE(at);
    const end = at + 4 + valueSize(file, type, at + 4);
    entries.set(key, { type, bytes: file.subarray(at + 4, end) });
    at = end;
  }
  return entries;
}

/** Bytes of a value of a GGUF type: 0-7 plain, 8 string, 9 array, 10-12 of 8 bytes. */
function valueSize(file: Buffer, type: number, at: number): number {
  const plain = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8][type] ?? 0;
  if (type === 8) return 8 + Number(file.readBigUInt64LE(at));
  if (type !== 9) return plain;
  const inner = file.readUInt32LE(at);
  const count = Number(file.readBigUInt64LE(at + 4));
  let size = 12;
  for (let index = 0; index < count; index++) size += valueSize(file, inner, at + size);
  return size;
}

export function uint32(value: number): Entry {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return { type: 4, bytes };
}

export function float32(value: number): Entry {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return { type: 6, bytes };
}

export function bool(value: boolean): Entry {
  return { type: 7, bytes: Buffer.from([value ? 1 : 0]) };
}

export function int32Array(values: readonly number[]): Entry {
  const bytes = Buffer.alloc(12 + 4 * values.length);
  bytes.writeUInt32LE(5);
  bytes.writeBigUInt64LE(BigInt(values.length), 4);
  values.forEach((value, index) => bytes.writeInt32LE(value, 12 + 4 * index));
  return { type: 9, bytes };
}

export function text(value: string): Entry {
  return { type: 8, bytes: sizedText(value) };
}

function sizedText(value: string): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(value, 'utf8');
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([size, bytes]);
}

/** Bytes of a tensor's data, without padding. */
export function tensorSize({ shape, type }: TensorSpec): number {
  const values = shape.reduce((product, size) => product * size, 1);
  return (values / 32) * blockBytes[type];
}

/** Where the next tensor begins. */
export const padded = (size: number): number => Math.ceil(size / alignment) * alignment;

/** Everything before the tensors' data, padded to where that begins. */
export function ggufHeader(entries: ReadonlyMap<string, Entry>, tensors: readonly TensorSpec[]): Buffer {
  const head = Buffer.alloc(24);
  head.write('GGUF', 'latin1');
  head.writeUInt32LE(3, 4);
  head.writeBigUInt64LE(BigInt(tensors.length), 8);
  head.writeBigUInt64LE(BigInt(entries.size), 16);
  const parts: Buffer[] = [head];
  for (const [key, { type, bytes }] of entries) {
    const number = Buffer.alloc(4);
    number.writeUInt32LE(type);
    parts.push(sizedText(key), number, bytes);
  }
  let offset = 0;
  for (const tensor of tensors) {
    const info = Buffer.alloc(4 + 8 * tensor.shape.length + 4 + 8);
    info.writeUInt32LE(tensor.shape.length, 0);
    tensor.shape.forEach((size, index) => info.writeBigUInt64LE(BigInt(size), 4 + 8 * index));
    info.writeUInt32LE(typeNumber[tensor.type], 4 + 8 * tensor.shape.length);
    info.writeBigUInt64LE(BigInt(offset), 8 + 8 * tensor.shape.length);
    parts.push(sizedText(tensor.name), info);
    offset += padded(tensorSize(tensor));
  }
  const header = Buffer.concat(parts);
  return Buffer.concat([header, Buffer.alloc(padded(header.length) - header.length)]);
}

/** Writes a GGUF file; random weights come from a fixed seed, so that the file is always the same. */
export function writeGguf(path: string, entries: ReadonlyMap<string, Entry>, tensors: readonly TensorSpec[]): void {
  const file = openSync(path, 'w');
  try {
    writeSync(file, ggufHeader(entries, tensors));
    const random = xorshift(2026);
    for (const tensor of tensors) {
      const data = Buffer.alloc(padded(tensorSize(tensor)));
      fillTensor(data, tensor, random);
      writeSync(file, data);
    }
  } finally {
    closeSync(file);
  }
}

function fillTensor(data: Buffer, tensor: TensorSpec, random: () => number): void {
  if (tensor.type === 'f32') {
    const constant = 'constant' in tensor.fill ? tensor.fill.constant : 0;
    for (let at = 0; at + 4 <= tensorSize(tensor); at += 4) {
      data.writeFloatLE('random' in tensor.fill ? (random() / 2 ** 31) * tensor.fill.random : constant, at);
    }
    return;
  }
  if (tensor.type === 'q4_k') throw new Error('Only the bench writes Q4_K.');
  if (tensor.type === 'mxfp4') {
    // A power of two for 32 values of up to 6: here 1/16, whatever the wish.
    for (let at = 0; at + 17 <= tensorSize(tensor); at += 17) {
      data.writeUInt8(123, at);
      for (let value = 1; value < 17; value += 4) data.writeInt32LE(random() | 0, at + value);
    }
    return;
  }
  const scale = halfOf(('random' in tensor.fill ? tensor.fill.random : 0) / 127);
  for (let at = 0; at + 34 <= tensorSize(tensor); at += 34) {
    data.writeUInt16LE(scale, at);
    for (let value = 2; value < 34; value += 4) data.writeInt32LE(random() | 0, at + value);
  }
  const zeroRow = 'random' in tensor.fill ? tensor.fill.zeroRow : undefined;
  if (zeroRow === undefined) return;
  const rowBytes = ((tensor.shape[0] ?? 0) / 32) * 34;
  for (let row = 0; row < (tensor.shape[1] ?? 0); row++) {
    if (zeroRow(row)) data.fill(0, row * rowBytes, (row + 1) * rowBytes);
  }
}

/** The strings of an array entry, such as a vocabulary. */
export function stringsOf({ bytes }: Entry): string[] {
  const strings: string[] = [];
  for (let at = 12; at < bytes.length;) {
    const length = Number(bytes.readBigUInt64LE(at));
    strings.push(bytes.toString('utf8', at + 8, at + 8 + length));
    at += 8 + length;
  }
  return strings;
}

/** Marsaglia's xorshift32: signed 32-bit numbers, the same for the same seed. */
function xorshift(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state;
  };
}

/** Bits of a small positive number as an IEEE half; exact enough for a scale. */
export function halfOf(value: number): number {
  const exponent = Math.max(-14, Math.floor(Math.log2(value)));
  return ((exponent + 15) << 10) | (Math.round((value / 2 ** exponent - 1) * 1024) & 1023);
}

const root = resolve(import.meta.dirname, '../..');

/**
 * A random qwen3moe of 60 MB with the built-in model's tokenizer and 8,192 tokens of context: it talks nonsense, but slowly
 * and for long, so that tests can stop it in the middle. On every machine, whatever its arithmetic does to random weights,
 * it says only whole words and never ends by itself at temperature 0: all other tokens have an output row of zeros.
 * Made once, kept in build/.
 */
export function slowModelPath(): string {
  const path = resolve(root, 'build/test-models/slow-words.gguf');
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const entries = readEntries(readFileSync(resolve(root, 'assets/models/dormouse-mini.gguf')));
  const [width, hidden, layers, experts, heads, headSize] = [512, 512, 8, 8, 8, 64];
  entries.set('general.name', text('Slow Nonsense'));
  for (const [key, value] of Object.entries({
    context_length: 8192,
    embedding_length: width,
    block_count: layers,
    expert_count: experts,
    expert_feed_forward_length: hidden,
    'attention.head_count': heads,
    'attention.head_count_kv': heads,
    'attention.key_length': headSize,
    'attention.value_length': headSize,
    'rope.dimension_count': headSize,
  })) {
    entries.set(`qwen3moe.${key}`, uint32(value));
  }
  const norm = (name: string, size: number): TensorSpec => ({
    name,
    shape: [size],
    type: 'f32',
    fill: { constant: 1 },
  });
  const matrix = (name: string, ...shape: number[]): TensorSpec => ({
    name,
    shape,
    type: 'q8_0',
    fill: { random: 0.08 },
  });
  const attention = heads * headSize;
  const vocabulary = stringsOf(entries.get('tokenizer.ggml.tokens')!);
  // Ġ is how byte-level BPE writes a space.
  const isWord = (row: number): boolean => /^Ġ[a-z]{2,}$/i.test(vocabulary[row] ?? '');
  const embedding: TensorSpec = {
    ...matrix('token_embd.weight', width, vocabulary.length),
    fill: { random: 0.08, zeroRow: (row) => !isWord(row) },
  };
  const tensors = [embedding, norm('output_norm.weight', width)];
  for (let layer = 0; layer < layers; layer++) {
    const block = `blk.${layer}.`;
    tensors.push(
      norm(`${block}attn_norm.weight`, width),
      ...['q', 'k', 'v'].map((part) => matrix(`${block}attn_${part}.weight`, width, attention)),
      matrix(`${block}attn_output.weight`, attention, width),
      norm(`${block}attn_q_norm.weight`, headSize),
      norm(`${block}attn_k_norm.weight`, headSize),
      norm(`${block}ffn_norm.weight`, width),
      { name: `${block}ffn_gate_inp.weight`, shape: [width, experts], type: 'f32', fill: { random: 0.1 } },
      matrix(`${block}ffn_gate_exps.weight`, width, hidden, experts),
      matrix(`${block}ffn_up_exps.weight`, width, hidden, experts),
      matrix(`${block}ffn_down_exps.weight`, hidden, width, experts),
    );
  }
  const part = `${path}.${process.pid}`;
  writeGguf(part, entries, tensors);
  renameSync(part, path);
  return path;
}
