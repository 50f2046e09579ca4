import type { LadderService, ModelService } from '../../services/interfaces.ts';
import type { LadderStatus } from '../../contract/index.ts';
import { jsonReply } from '../replies.ts';
import type { Route } from '../router.ts';
import { llamaTimings } from '../dialects/usage.ts';

/** `GET /v1/status`: what the engine, its model and its workers do. Fields may be added, none are renamed. */
export function statusRoutes(
  models: ModelService,
  ladder: Pick<LadderService, 'status'>,
  version: string,
): readonly Route[] {
  const handler = () => jsonReply(statusOf(models, ladder.status(), version));
  return [{ method: 'GET', path: '/v1/status', area: 'api', handler }];
}

function statusOf(models: ModelService, ladder: LadderStatus, version: string) {
  const { state, since, model, pool, sleep, waiting, gpu, placement } = models.status();
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
    ladder: {
      step: ladder.step,
      since: ladder.since,
      wokeInMs: ladder.wokeInMs,
      model: models.hibernated()?.id ?? null,
    },
    gpu,
    // Bytes per place as measured after the load; `ram.experts` on the pool, mapped if `mapped`.
    placement,
    lastTimings: timings === null ? null : llamaTimings(timings),
    queue: { running: state === 'prefill' || state === 'generating' ? 1 : 0, waiting },
  };
}
