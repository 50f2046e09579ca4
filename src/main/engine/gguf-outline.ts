import { open, type FileHandle } from 'node:fs/promises';

/** Bytes of each plain value type; 8 is a string, 9 an array. Source: ggml's gguf.h. */
const plainSizes: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};
const stringType = 8;
const arrayType = 9;
/** Headers of the largest vocabularies have some 20 MB. */
const largestHeader = 256 * 1024 * 1024;
const mostEntries = 100_000;
const mostDimensions = 4;
const windowBytes = 1024 * 1024;

/** What is wrong with a header; the number tells where, in bytes from the start. */
class BadHeader extends Error {}

/**
 * Walks over a GGUF header without keeping anything of it, and checks every count and length against the size of the
 * file. The reader that comes after believes what it reads: a wrong length there ends the process.
 * @returns null when the outline is sound, else what is wrong in words.
 */
export async function checkGgufOutline(path: string): Promise<string | null> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const reader = new HeaderReader(file, Math.min(size, largestHeader));
    await walk(reader);
    return null;
  } catch (error) {
    if (error instanceof BadHeader) return error.message;
    throw error;
  } finally {
    await file.close();
  }
}

async function walk(reader: HeaderReader): Promise<void> {
  reader.skip(8);
  const tensors = await reader.count('tensors');
  const entries = await reader.count('entries');
  for (let index = 0; index < entries; index++) {
    await skipString(reader);
    await skipValue(reader, await reader.uint32());
  }
  for (let index = 0; index < tensors; index++) {
    await skipString(reader);
    const dimensions = await reader.uint32();
    if (dimensions > mostDimensions) throw new BadHeader(`a tensor has ${dimensions} dimensions`);
    reader.skip(8 * dimensions + 4 + 8);
  }
}

async function skipString(reader: HeaderReader): Promise<void> {
  reader.skip(await reader.length());
}

async function skipValue(reader: HeaderReader, type: number): Promise<void> {
  if (type === stringType) return skipString(reader);
  if (type !== arrayType) return reader.skip(sizeOf(type));
  const inner = await reader.uint32();
  const count = await reader.length();
  if (inner === arrayType) throw new BadHeader('it holds a list of lists');
  if (inner !== stringType) return reader.skip(sizeOf(inner) * count);
  for (let index = 0; index < count; index++) await skipString(reader);
}

function sizeOf(type: number): number {
  const size = plainSizes[type];
  if (size === undefined) throw new BadHeader(`it holds a value of the unknown type ${type}`);
  return size;
}

/** Reads little numbers through a window that moves over the file. */
class HeaderReader {
  readonly #file: FileHandle;
  readonly #end: number;
  #window = Buffer.alloc(0);
  #windowStart = 0;
  #at = 0;

  constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.#end = end;
  }

  skip(bytes: number): void {
    if (this.#at + bytes > this.#end) throw new BadHeader('it ends in the middle');
    this.#at += bytes;
  }

  async uint32(): Promise<number> {
    return (await this.#bytes(4)).readUInt32LE();
  }

  /** A length that fits into what is left of the file. */
  async length(): Promise<number> {
    const value = (await this.#bytes(8)).readBigUInt64LE();
    if (value > BigInt(this.#end - this.#at)) throw new BadHeader('a part of it claims to be longer than the file');
    return Number(value);
  }

  async count(what: string): Promise<number> {
    const value = (await this.#bytes(8)).readBigUInt64LE();
    if (value > BigInt(mostEntries)) throw new BadHeader(`it claims to have ${value} ${what}`);
    return Number(value);
  }

  async #bytes(count: number): Promise<Buffer> {
    const start = this.#at;
    this.skip(count);
    if (start < this.#windowStart || start + count > this.#windowStart + this.#window.length) {
      const window = Buffer.alloc(Math.min(windowBytes, this.#end - start));
      const { bytesRead } = await this.#file.read(window, 0, window.length, start);
      if (bytesRead < count) throw new BadHeader('it ends in the middle');
      this.#window = window.subarray(0, bytesRead);
      this.#windowStart = start;
    }
    return this.#window.subarray(start - this.#windowStart, start - this.#windowStart + count);
  }
}
