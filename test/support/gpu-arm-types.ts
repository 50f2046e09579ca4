/** What crosses between a test, or `npm run check:gpu`, and the process that works on a graphics card. */

export type GpuArmOptions = {
  readonly scenario: 'teach' | 'speed' | 'second' | 'rounds' | 'engine';
  /** `false` is the reference on the CPU. */
  readonly gpu: 'auto' | 'cuda' | 'vulkan' | 'metal' | false;
  readonly model: string;
  /** Layers on the device, the output counted as one. */
  readonly gpuLayers: number;
  /** The experts of the first so many layers stay in RAM. */
  readonly expertLayers: number;
  /** Tokens per evaluation. From 32 on, llama.cpp may compute experts in RAM on the device (op offload). */
  readonly batch: number;
  /** Of the fixed text, or rounds. */
  readonly count: number;
  /** Ids of the fixed text lie below. */
  readonly teacherIds: number;
};

export type GpuArmResult = {
  readonly backend: string | false;
  readonly devices: readonly string[];
  /** Bytes of weights, by llama.cpp's own count. */
  readonly memory: { readonly ram: number; readonly vram: number };
  readonly kept: { readonly tensors: number; readonly layers: number; readonly bytes: number };
  /** Bytes of the model's file that are mapped into the process. */
  readonly mappedBytes: number;
  /** Log-probabilities of the whole vocabulary after each token of a fixed text. */
  readonly logits?: readonly (readonly number[])[];
  /** Graphs that the CPU computed for one token: each is a split, and the device has at most one more. */
  readonly cpuGraphsPerToken?: number;
  /** llama.cpp's own line about splits, where it was heard. */
  readonly splits?: string;
  readonly prefillTokensPerSecond?: number;
  readonly decodeTokensPerSecond?: number;
  readonly answers?: readonly string[];
  readonly statuses?: readonly unknown[];
  readonly firstMemory?: readonly number[];
};
