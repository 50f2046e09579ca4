import type { Logger } from '../../base/index.ts';
import { fail, type Result } from '../../contract/index.ts';
import type { AnswerPart, Completion, CompletionService, ModelService } from '../../services/interfaces.ts';
import { readJson } from '../body.ts';
import { chooseModel, type ChosenModel } from '../choose-model.ts';
import { EventStream } from '../event-stream.ts';
import type { RouteContext } from '../exchange.ts';
import type { ServerLimits } from '../options.ts';
import { alreadySent, jsonReply, refuse } from '../replies.ts';
import type { Route } from '../router.ts';
import type { AnswerDialect, AnswerPlan, ReplyHead, StreamEvent } from './dialect.ts';
import { failureRefusal } from './failures.ts';

export type AnswerDeps = {
  readonly models: ModelService;
  readonly completions: CompletionService;
  readonly limits: ServerLimits;
  readonly logger: Logger;
  readonly random: (bytes: number) => Uint8Array;
};

/** One answer on its way. */
type Job = {
  readonly dialect: AnswerDialect;
  readonly deps: AnswerDeps;
  readonly context: RouteContext;
  readonly plan: AnswerPlan;
  readonly model: ChosenModel;
  readonly head: ReplyHead;
};

/** The route of a dialect: reads, chooses the model, answers whole or as a stream. */
export function answerRoute(dialect: AnswerDialect, deps: AnswerDeps): Route {
  const { path, area } = dialect;
  const handler = async (context: RouteContext): Promise<Response> => {
    const body = await readJson(context, area, deps.limits.bodyBytes);
    if (!body.ok) return body.response;
    const read = dialect.read(body.data);
    if (!read.ok) return refuse(area, read.refusal);
    const model = chooseModel(deps.models, read.data.model);
    if (!model.ok) return refuse(area, model.refusal);
    context.env.exchange.fields['model'] = model.data.shown;
    const newId = (prefix: string) => `${prefix}${Buffer.from(deps.random(12)).toString('hex')}`;
    const created = Math.floor(Date.now() / 1000);
    const head = { id: newId(dialect.idPrefix), created, model: model.data.shown, newId };
    const job: Job = { dialect, deps, context, plan: read.data, model: model.data, head };
    return read.data.stream ? streamAnswer(job) : wholeAnswer(job);
  };
  return { method: 'POST', path, area, handler };
}

async function wholeAnswer(job: Job): Promise<Response> {
  const { dialect, deps, context, plan, head } = job;
  const result = await complete(job, () => undefined);
  if (context.env.exchange.gone.aborted) return alreadySent();
  if (result.ok) return jsonReply(plan.format(head).whole(result.data));
  const retryAfter = () => deps.completions.retryAfterSeconds();
  return refuse(dialect.area, failureRefusal(result.error, dialect.params, retryAfter));
}

async function streamAnswer(job: Job): Promise<Response> {
  const { dialect, deps, context, plan, head } = job;
  const { outgoing, exchange } = context.env;
  const { answerQueueBytes: queueBytes, answerHeartbeatMs: heartbeatMs } = deps.limits;
  const stream = new EventStream(outgoing, { queueBytes, heartbeatMs, heartbeat: eventText(dialect.heartbeat) });
  const format = plan.format(head);
  const send = (events: readonly StreamEvent[]) => {
    for (const { event, data } of events) stream.send(data === '[DONE]' ? data : JSON.stringify(data), event);
  };
  const open = () => {
    if (stream.started || exchange.gone.aborted) return;
    stream.start();
    send(format.opening());
  };
  // Not opened at once: an error before the first token can then still have its own status.
  const patience = setTimeout(open, heartbeatMs);
  patience.unref();
  const result = await complete(job, (part) => {
    open();
    send(format.part(part));
  });
  clearTimeout(patience);
  if (exchange.gone.aborted) return alreadySent();
  if (!result.ok) {
    const refusal = failureRefusal(result.error, dialect.params, () => deps.completions.retryAfterSeconds());
    if (!stream.started) return refuse(dialect.area, refusal);
    send(format.failure(refusal));
  } else {
    open();
    send(format.closing(result.data));
  }
  stream.end();
  return alreadySent();
}

function eventText(event: StreamEvent | undefined): string | undefined {
  if (event === undefined) return undefined;
  return `event: ${event.event ?? 'message'}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

async function complete(job: Job, onPart: (part: AnswerPart) => void): Promise<Result<Completion>> {
  const { deps, context, plan, model } = job;
  const { exchange } = context.env;
  const { gone, fields } = exchange;
  const result = await withModel(deps, model, gone, () =>
    deps.completions.complete({ ...plan.request, model: model.id }, onPart, gone),
  );
  if (result.ok) {
    exchange.timings = result.data.timings;
    fields['promptTokens'] = result.data.timings.promptTokens;
    fields['predictedTokens'] = result.data.timings.predictedTokens;
  } else {
    fields['error'] = result.error.code;
  }
  return result;
}

/** Holds the chosen model loaded while `run` works. A bug in a service is a failure like any other, without its text. */
export async function withModel<T>(
  { models, logger }: Pick<AnswerDeps, 'models' | 'logger'>,
  model: ChosenModel,
  gone: AbortSignal,
  run: () => Promise<Result<T>>,
): Promise<Result<T>> {
  try {
    const held = await models.hold(model.id, gone);
    if (!held.ok) return held;
    try {
      return await run();
    } finally {
      held.data();
    }
  } catch (error) {
    logger.error('A completion threw', { error: error instanceof Error ? error.name : typeof error });
    return fail('internal', 'Something went wrong inside Dormouse; its log says what.');
  }
}
