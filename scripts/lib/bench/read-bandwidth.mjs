import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';

const halfBytes = 96 * 1024 * 1024;

/**
 * How fast `threads` threads together read memory: each compares two equal buffers, larger than any cache, again and again.
 * @returns bytes per second.
 */
export async function readBandwidth(threads, ms = 1_000) {
  const workers = Array.from(
    { length: threads },
    () => new Worker(fileURLToPath(import.meta.url), { workerData: { ms } }),
  );
  try {
    const message = (worker) =>
      new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
    await Promise.all(workers.map(message));
    const rates = workers.map(message);
    for (const worker of workers) worker.postMessage('go');
    return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

if (!isMainThread && workerData?.ms) {
  // Pages that nobody wrote to all lie in the same place.
  const [first, second] = [Buffer.alloc(halfBytes, 1), Buffer.alloc(halfBytes, 1)];
  parentPort.once('message', () => {
    const start = performance.now();
    let bytes = 0;
    while (performance.now() - start < workerData.ms) {
      if (first.compare(second) === 0) bytes += 2 * halfBytes;
    }
    parentPort.postMessage((bytes / (performance.now() - start)) * 1000);
  });
  parentPort.postMessage('ready');
}
