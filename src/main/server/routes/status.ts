import type { ModelService } from '../../services/interfaces.ts';
import { jsonReply } from '../replies.ts';
import type { Route } from '../router.ts';
import { llamaTimings } from './chat-reply.ts';

/** `GET /v1/status`: what the engine, its model and its workers do. Fields may be added, none are renamed. */
export function statusRoutes(models: ModelService, version: string): readonly Route[] {
  return [{ method: 'GET', path: '/v1/status', area: 'api', handler: () => jsonReply(statusOf(models, version)) }];
}

function statusOf(models: ModelService, version: string) {
  const { state, since, model, pool, sleep, waiting } = models.status();
  const stats = models.poolStats();
  const timings = models.lastTimings();
  return {
    service: 'dormouse',
    version,
    engine: {
      state,
      since,
      model:
        model === null
          ? null
          : {
              id: model.id,
              name: model.name,
              path: model.path,
              experts: model.experts,
              expertsUsed: model.expertsUsed,
            },
    },
    pool: {
      installed: pool?.installed ?? false,
      ...(typeof pool?.reason === 'string' ? { reason: pool.reason } : {}),
      threads: pool?.threads ?? 0,
      spinMs: pool?.spinMs ?? null,
      workers: (stats?.workers ?? []).map(({ id, state: worker, busyMs, spinMs, asleepMs, cpuMs, wakes }) => ({
        id,
        state: worker,
        busyMs,
        spinMs,
        asleepMs,
        cpuMs,
        wakes,
      })),
      asleepSince: sleep?.step === 'asleep' ? sleep.since : null,
    },
    cpu: { coresLast10s: sleep?.cores ?? null },
    ladder: { step: sleep?.step ?? null, since: sleep?.since ?? since },
    // Until experts and the rest can be placed apart, everything is where llama.cpp puts it.
    placement: null,
    lastTimings: timings === null ? null : llamaTimings(timings),
    queue: { running: state === 'prefill' || state === 'generating' ? 1 : 0, waiting },
  };
}
