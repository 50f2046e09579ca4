import { ping } from '../dialects/anthropic-format.ts';
import { readMessagesRequest } from '../dialects/anthropic-request.ts';
import type { AnswerDialect } from '../dialects/dialect.ts';
import { readChatRequest } from '../dialects/openai-chat-request.ts';
import { readResponsesRequest } from '../dialects/openai-responses-request.ts';
import { readTextRequest } from '../dialects/openai-text.ts';
import { answerRoute, type AnswerDeps } from '../dialects/run-answer.ts';
import type { Route } from '../router.ts';

const dialects: readonly AnswerDialect[] = [
  {
    path: '/v1/chat/completions',
    area: 'api',
    idPrefix: 'chatcmpl-',
    read: readChatRequest,
    params: { prompt: 'messages', schema: 'response_format' },
  },
  {
    path: '/v1/completions',
    area: 'api',
    idPrefix: 'cmpl-',
    read: readTextRequest,
    params: { prompt: 'prompt', schema: 'prompt' },
  },
  {
    path: '/v1/responses',
    area: 'api',
    idPrefix: 'resp_',
    read: readResponsesRequest,
    params: { prompt: 'input', schema: 'text.format' },
  },
  {
    path: '/v1/messages',
    area: 'messages',
    idPrefix: 'msg_',
    read: readMessagesRequest,
    params: { prompt: 'messages', schema: 'tools' },
    heartbeat: ping,
  },
];

/** The routes that answer a prompt, one for each dialect. */
export function answerRoutes(deps: AnswerDeps): readonly Route[] {
  return dialects.map((dialect) => answerRoute(dialect, deps));
}
