import process from 'node:process';
import type { LadderService, ModelService } from '../../services/interfaces.ts';
import { engineStateSchema, ladderStepSchema, sleepStepSchema } from '../../contract/index.ts';
import { MetricsText } from '../metrics-text.ts';
import { durationBuckets, type RequestCounters } from '../request-counters.ts';
import type { Route } from '../router.ts';

export type MetricsDeps = {
  readonly models: ModelService;
  readonly ladder: Pick<LadderService, 'status'>;
  readonly counters: RequestCounters;
  readonly version: string;
};

const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** `GET /metrics`: Prometheus' text format. The names are documented in the README and stay. */
export function metricsRoutes(deps: MetricsDeps): readonly Route[] {
  const headers = { 'content-type': contentType, 'cache-control': 'no-store' };
  const handler = () => new Response(metrics(deps), { headers });
  return [{ method: 'GET', path: '/metrics', area: 'api', handler }];
}

function metrics(deps: MetricsDeps): string {
  const text = new MetricsText();
  addRequests(text, deps.counters);
  addEngine(text, deps);
  addPool(text, deps.models);
  addProcess(text, deps.version);
  return text.toString();
}

function addRequests(text: MetricsText, { routes, durations, promptTokens, predictedTokens }: RequestCounters): void {
  text.family('dormouse_http_requests_total', 'counter', 'Requests that have ended, by route and status.');
  for (const { route, status, requests } of routes.values()) text.value(requests, { route, status });
  text.family('dormouse_http_request_duration_seconds', 'histogram', 'Time from the head of a request to its end.');
  for (const [route, { buckets, count, seconds }] of durations) {
    let sum = 0;
    for (const [index, end] of durationBuckets.entries()) {
      sum += buckets[index] ?? 0;
      text.value(sum, { route, le: String(end) }, '_bucket');
    }
    text.value(count, { route, le: '+Inf' }, '_bucket');
    text.value(seconds, { route }, '_sum');
    text.value(count, { route }, '_count');
  }
  text.family('dormouse_prompt_tokens_total', 'counter', 'Tokens of the prompts that the API answered.');
  text.value(promptTokens);
  text.family('dormouse_predicted_tokens_total', 'counter', 'Tokens that the API answered with.');
  text.value(predictedTokens);
}

function addEngine(text: MetricsText, { models, ladder }: MetricsDeps): void {
  const { state, waiting, model, sleep } = models.status();
  text.family('dormouse_engine_state', 'gauge', '1 for the state the engine is in, 0 for the others.');
  for (const name of engineStateSchema.options) text.value(name === state ? 1 : 0, { state: name });
  text.family('dormouse_model_loaded', 'gauge', '1 while a model is in memory.');
  text.value(model === null ? 0 : 1, model === null ? {} : { model: model.id });
  text.family('dormouse_queue_running', 'gauge', 'Whether an answer is being computed.');
  text.value(state === 'prefill' || state === 'generating' ? 1 : 0);
  text.family('dormouse_queue_waiting', 'gauge', 'Requests that wait for their turn.');
  text.value(waiting);
  text.family('dormouse_sleep_step', 'gauge', '1 for the step of the sleep ladder, 0 for the others.');
  for (const step of ladderStepSchema.options) text.value(step === ladder.status().step ? 1 : 0, { step });
  text.family('dormouse_asleep_cores', 'gauge', 'Cores used by the process over the last 10 s of sleep.');
  if (sleep?.cores !== null && sleep?.cores !== undefined) text.value(sleep.cores);
}

function addPool(text: MetricsText, models: ModelService): void {
  const workers = models.poolStats()?.workers ?? [];
  text.family('dormouse_pool_workers', 'gauge', 'Workers of the expert pool, by what they do now.');
  for (const state of sleepStepSchema.options) {
    text.value(workers.filter((worker) => worker.state === state).length, { state });
  }
  text.family('dormouse_pool_worker_seconds_total', 'counter', 'Time of each worker in each state.');
  for (const { id, busyMs, spinMs, asleepMs } of workers) {
    const worker = String(id);
    text.value(busyMs / 1000, { worker, state: 'computing' });
    text.value(spinMs / 1000, { worker, state: 'spinning' });
    text.value(asleepMs / 1000, { worker, state: 'asleep' });
  }
  text.family('dormouse_pool_worker_cpu_seconds_total', 'counter', 'CPU time of each worker.');
  for (const { id, cpuMs } of workers) text.value(cpuMs / 1000, { worker: String(id) });
  text.family('dormouse_pool_worker_wakes_total', 'counter', 'How often each worker was woken.');
  for (const { id, wakes } of workers) text.value(wakes, { worker: String(id) });
}

function addProcess(text: MetricsText, version: string): void {
  const { user, system } = process.cpuUsage();
  text.family('process_cpu_seconds_total', 'counter', 'CPU time of the process, all threads.');
  text.value((user + system) / 1_000_000);
  text.family('process_resident_memory_bytes', 'gauge', 'Memory of the process in RAM.');
  text.value(process.memoryUsage.rss());
  text.family('process_start_time_seconds', 'gauge', 'Unix time of the start.');
  text.value(Math.round((performance.timeOrigin / 1000) * 1000) / 1000);
  text.family('dormouse_build_info', 'gauge', 'Always 1; the label tells the version.');
  text.value(1, { version });
}
