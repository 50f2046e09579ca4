import type { Message, Timings } from '../../../main/contract/index.ts';
import { formatCount, formatSeconds, formatSpeed } from '../../lib/format.ts';
import { en } from './en.ts';

/** The short line under an answer. */
export function answerStats(timings: Timings): readonly string[] {
  const { predictedTokens, tokensPerSecond, timeToFirstTokenMs } = timings;
  return [
    en.tokens(formatCount(predictedTokens), predictedTokens === 1),
    ...(tokensPerSecond === null ? [] : [en.speed(formatSpeed(tokensPerSecond))]),
    ...(timeToFirstTokenMs === null ? [] : [en.firstToken(formatSeconds(timeToFirstTokenMs))]),
  ];
}

/** Everything that was measured, one fact a line. */
export function answerDetails(timings: Timings, modelName: string | null): string {
  const { promptTokens, promptTokensEvaluated, prefillMs, predictedMs, queuedMs } = timings;
  const { details } = en;
  return [
    details.prompt(formatCount(promptTokens)),
    details.evaluated(formatCount(promptTokensEvaluated), formatCount(promptTokens - promptTokensEvaluated)),
    details.prefill(formatSeconds(prefillMs)),
    details.decode(formatSeconds(predictedMs)),
    ...(queuedMs >= 1 ? [details.queued(formatSeconds(queuedMs))] : []),
    ...(modelName === null ? [] : [details.model(modelName)]),
  ].join('\n');
}

/** What a reader must know about how the answer ended; empty when it ended by itself. */
export function answerRemarks(message: Message): readonly string[] {
  const reason = message.stopReason === null ? null : en.stopReasons[message.stopReason];
  const ended = reason ?? (message.status === 'stopped' ? en.stopped : null);
  const dropped = message.timings?.turnsDropped ?? 0;
  return [...(ended === null ? [] : [ended]), ...(dropped === 0 ? [] : [en.dropped(dropped)])];
}
