import { open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GgufFileType, readGgufFileInfo, type GgufFileInfo } from 'node-llama-cpp';
import { fail, ok, type AppError, type Result } from '../contract/index.ts';
import { tensorBytes } from './ggml-types.ts';
import { checkGgufOutline } from './gguf-outline.ts';
import { modelWeights } from './model-weights.ts';
import type { ModelWeights } from './placement.ts';

/** What a GGUF header says about a model. */
export type GgufFacts = {
  readonly name: string;
  readonly architecture: string;
  readonly quantization: string | null;
  /** Bytes of all its files. */
  readonly sizeBytes: number;
  readonly layers: number;
  /** 0 for a dense model. */
  readonly experts: number;
  readonly expertsUsed: number;
  readonly contextTrained: number;
  readonly weights: ModelWeights;
  /** Sampling values that the file recommends (`general.sampling.*`). */
  readonly sampling: {
    readonly temperature?: number;
    readonly topP?: number;
    readonly topK?: number;
    readonly minP?: number;
    readonly repeatPenalty?: number;
  };
};

const again = 'Download the file again, or choose another one.';

/**
 * Reads a file's header and checks everything that can be known before llama.cpp opens it:
 * that it is there, readable, a whole GGUF file of a known version, and holds weights.
 * @param path of a `.gguf` file, or of the first part of a split one.
 */
export async function readGgufFacts(path: string): Promise<Result<GgufFacts>> {
  const problem = await lookAtFile(path);
  if (problem !== null) return { ok: false, error: problem };
  const parts = await splitParts(path);
  if (!parts.ok) return parts;
  for (const part of parts.data) {
    const wrong = await checkGgufOutline(part);
    if (wrong !== null) return damaged(part, wrong);
  }
  let info: GgufFileInfo;
  try {
    info = await readGgufFileInfo(path, { sourceType: 'filesystem', logWarnings: false });
  } catch (error) {
    return damaged(path, messageOf(error));
  }
  const tensors = info.fullTensorInfo ?? info.tensorInfo ?? [];
  if (tensors.length === 0) {
    return fail(
      'model_vocabulary_only',
      `${basename(path)} holds only a vocabulary, no weights.`,
      'Choose the file of the same model that has several hundred MB or more.',
    );
  }
  const sizes = await Promise.all(parts.data.map(async (part) => (await stat(part)).size));
  const cut = findCut(info, parts.data, sizes);
  if (cut !== null) return { ok: false, error: cut };
  return ok(
    factsOf(
      path,
      info,
      sizes.reduce((sum, size) => sum + size, 0),
    ),
  );
}

function damaged(path: string, how: string) {
  return fail('model_truncated', `The header of ${basename(path)} is damaged: ${how}.`, again);
}

/** Everything that the first bytes of a file can tell. */
async function lookAtFile(path: string): Promise<AppError | null> {
  const name = basename(path);
  try {
    const facts = await stat(path);
    if (facts.isDirectory()) {
      return fail('model_is_folder', `${path} is a folder.`, 'Choose a .gguf file inside it.').error;
    }
    if (facts.size === 0) return fail('model_empty', `${name} is empty (0 bytes).`, again).error;
    const file = await open(path, 'r');
    try {
      const head = Buffer.alloc(8);
      const { bytesRead } = await file.read(head, 0, 8, 0);
      return checkHead(name, head.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  } catch (error) {
    return fileError(path, error);
  }
}

function fileError(path: string, error: unknown): AppError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return fail('model_not_found', `There is no file ${path}.`, 'Check the path, or choose the file again.').error;
    case 'EACCES':
    case 'EPERM':
      return fail(
        'model_unreadable',
        `Dormouse may not read ${path}.`,
        'Give your user the right to read the file and its folders.',
      ).error;
    default:
      return fail('model_unreadable', `${path} cannot be read: ${messageOf(error)}`, 'Choose the file again.').error;
  }
}

function checkHead(name: string, head: Buffer): AppError | null {
  if (head.subarray(0, 4).toString('latin1') !== 'GGUF') {
    return fail(
      'model_not_gguf',
      `${name} is not a GGUF file.`,
      'Dormouse runs models in the GGUF format; look for a file that ends in .gguf.',
    ).error;
  }
  if (head.length < 8) return fail('model_truncated', `${name} ends after ${head.length} bytes.`, again).error;
  const version = head.readUInt32LE(4);
  if (version === 2 || version === 3) return null;
  const bigEndian = head.readUInt32BE(4) === 2 || head.readUInt32BE(4) === 3;
  return fail(
    'model_unsupported_format',
    bigEndian
      ? `${name} was written for big-endian computers.`
      : `${name} is GGUF version ${version}; this Dormouse reads versions 2 and 3.`,
    'Look for another file of this model.',
  ).error;
}

/** All files of a split model in order; the file itself when it is not split. */
async function splitParts(path: string): Promise<Result<readonly string[]>> {
  const name = basename(path);
  const split = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/.exec(name);
  if (split === null) return ok([path]);
  const [, stem = '', part = '', count = ''] = split;
  const there = new Set(await readdir(dirname(path)));
  const names = Array.from(
    { length: Number(count) },
    (_, index) => `${stem}-${String(index + 1).padStart(5, '0')}-of-${count}.gguf`,
  );
  const missing = names.filter((each) => !there.has(each));
  if (missing.length > 0) {
    return fail(
      'model_shard_missing',
      `${missing.length} of the ${names.length} files of this model are missing, first ${missing[0] ?? ''}.`,
      'Put all parts of the model into one folder.',
    );
  }
  if (Number(part) !== 1) {
    return fail('model_not_gguf', `${name} is part ${Number(part)} of a split model.`, `Choose ${names[0] ?? ''}.`);
  }
  return ok(names.map((each) => join(dirname(path), each)));
}

/** The first tensor that would end beyond its file tells that the file is cut off. */
function findCut(info: GgufFileInfo, parts: readonly string[], sizes: readonly number[]): AppError | null {
  const ends = parts.map(() => 0);
  for (const tensor of info.fullTensorInfo ?? info.tensorInfo ?? []) {
    const bytes = tensorBytes(tensor.ggmlType, tensor.dimensions);
    const part = tensor.filePart - 1;
    if (bytes === null) continue;
    ends[part] = Math.max(ends[part] ?? 0, Number(tensor.fileOffset) + bytes);
  }
  for (const [index, end] of ends.entries()) {
    const size = sizes[index] ?? 0;
    if (size >= end) continue;
    const message = `${basename(parts[index] ?? '')} is cut off: ${inWords(end - size)} of ${inWords(end)} are missing.`;
    return fail('model_truncated', message, again).error;
  }
  return null;
}

function factsOf(path: string, info: GgufFileInfo, sizeBytes: number): GgufFacts {
  const general = info.metadata.general;
  const architecture: Readonly<Record<string, unknown>> = { ...info.architectureMetadata };
  const sampling = recordOf((general as Readonly<Record<string, unknown>>)['sampling']);
  const fileType = general.file_type;
  const layers = numberOf(architecture['block_count']) ?? 0;
  return {
    name: general.name ?? basename(path, '.gguf'),
    architecture: general.architecture,
    quantization: fileType === undefined ? null : shortType(GgufFileType[fileType]),
    sizeBytes,
    layers,
    experts: numberOf(architecture['expert_count']) ?? 0,
    expertsUsed: numberOf(architecture['expert_used_count']) ?? 0,
    contextTrained: numberOf(architecture['context_length']) ?? 0,
    weights: modelWeights(info.fullTensorInfo ?? info.tensorInfo ?? [], architecture, layers),
    sampling: dropUndefined({
      temperature: numberOf(sampling['temp']),
      topP: numberOf(sampling['top_p']),
      topK: numberOf(sampling['top_k']),
      minP: numberOf(sampling['min_p']),
      repeatPenalty: numberOf(sampling['penalty_repeat']),
    }),
  };
}

/** `MOSTLY_Q4_K_M` -> `Q4_K_M`, `ALL_F32` -> `F32`. */
function shortType(name: string | undefined): string | null {
  return name?.replace(/^(MOSTLY|ALL)_/, '') ?? null;
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function dropUndefined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function inWords(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e5 ? `${(bytes / 1e6).toFixed(1)} MB` : `${bytes} bytes`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
