export { coreReader } from './cores.ts';
export { Gpus, gpuSources, type GpuSource } from './gpu.ts';
export { memoryReader } from './memory.ts';
export { processCpuTime } from './process-cpu.ts';
export { RequestMarks } from './request-marks.ts';
export { leaseMs, Sampler, type EngineReading, type SamplerDependencies } from './sampler.ts';
