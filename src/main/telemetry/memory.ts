import { readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';

export type MemoryReading = {
  readonly rssBytes: number;
  readonly availableBytes: number;
  readonly totalBytes: number;
};

export type MemoryReader = () => MemoryReading;

/** RAM of the process and the machine. On Linux `available` counts what the system can free, as other tools do. */
export function memoryReader(platform: NodeJS.Platform = process.platform, path = '/proc/meminfo'): MemoryReader {
  return () => ({ rssBytes: process.memoryUsage.rss(), ...(platform === 'linux' ? fromFile(path) : fromNode()) });
}

export function parseMeminfo(text: string): { availableBytes: number; totalBytes: number } | null {
  const figure = (name: string) => {
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
    return kibibytes === undefined ? null : Number(kibibytes) * 1024;
  };
  const availableBytes = figure('MemAvailable');
  const totalBytes = figure('MemTotal');
  return availableBytes === null || totalBytes === null ? null : { availableBytes, totalBytes };
}

function fromFile(path: string): { availableBytes: number; totalBytes: number } {
  try {
    return parseMeminfo(readFileSync(path, 'utf8')) ?? fromNode();
  } catch {
    return fromNode();
  }
}

function fromNode(): { availableBytes: number; totalBytes: number } {
  return { availableBytes: freemem(), totalBytes: totalmem() };
}
