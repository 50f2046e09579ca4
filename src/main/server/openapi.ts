import { z } from 'zod';
import { countRequestSchema, messagesRequestSchema } from './dialects/anthropic-request.ts';
import { chatRequestSchema } from './dialects/openai-chat-request.ts';
import { embeddingsRequestSchema } from './dialects/openai-embeddings.ts';
import { responsesRequestSchema } from './dialects/openai-responses-request.ts';
import { textRequestSchema } from './dialects/openai-text.ts';
import * as replies from './dialects/reply-schemas.ts';
import { loadRequestSchema } from './routes/control.ts';

type Operation = {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly summary: string;
  readonly request?: z.ZodType;
  readonly reply: z.ZodType | 'text';
  /** Of each event's `data` when the request asks for a stream. */
  readonly event?: z.ZodType;
  readonly error: z.ZodType;
  readonly open?: true;
};

const openAiError = replies.errorReplySchema;
const anthropicError = replies.messagesErrorSchema;

const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/health',
    summary: 'Whether it runs.',
    reply: replies.healthReplySchema,
    error: openAiError,
    open: true,
  },
  {
    method: 'get',
    path: '/v1/status',
    summary: 'What engine, pool and queue do.',
    reply: replies.statusReplySchema,
    error: openAiError,
  },
  { method: 'get', path: '/metrics', summary: 'Figures for Prometheus.', reply: 'text', error: openAiError },
  {
    method: 'get',
    path: '/v1/models',
    summary: 'Models and aliases that a request may name.',
    reply: replies.modelsReplySchema,
    error: openAiError,
  },
  {
    method: 'get',
    path: '/v1/models/{id}',
    summary: 'One of them.',
    reply: replies.modelReplySchema,
    error: openAiError,
  },
  {
    ...{ method: 'post', path: '/v1/chat/completions', summary: 'Answers a chat, as OpenAI does.' },
    ...{
      request: chatRequestSchema,
      reply: replies.chatReplySchema,
      event: replies.chatChunkSchema,
      error: openAiError,
    },
  },
  {
    ...{ method: 'post', path: '/v1/completions', summary: 'Continues a text, as OpenAI does.' },
    ...{
      request: textRequestSchema,
      reply: replies.textReplySchema,
      event: replies.textReplySchema,
      error: openAiError,
    },
  },
  {
    ...{ method: 'post', path: '/v1/responses', summary: 'Answers items, as OpenAI does; nothing is stored.' },
    ...{ request: responsesRequestSchema, reply: replies.responseReplySchema },
    ...{ event: replies.responseEventSchema, error: openAiError },
  },
  {
    ...{ method: 'post', path: '/v1/embeddings', summary: 'Turns texts into vectors of length 1.' },
    ...{ request: embeddingsRequestSchema, reply: replies.embeddingsReplySchema, error: openAiError },
  },
  {
    ...{ method: 'post', path: '/v1/messages', summary: 'Answers a chat, as Anthropic does.' },
    ...{ request: messagesRequestSchema, reply: replies.messageReplySchema },
    ...{ event: replies.messageEventSchema, error: anthropicError },
  },
  {
    ...{ method: 'post', path: '/v1/messages/count_tokens', summary: 'Counts what a chat would take.' },
    ...{ request: countRequestSchema, reply: replies.countReplySchema, error: anthropicError },
  },
  {
    ...{ method: 'post', path: '/v1/load', summary: 'Loads a model; running answers end first.' },
    ...{ request: loadRequestSchema, reply: replies.loadReplySchema, error: openAiError },
  },
  {
    ...{ method: 'post', path: '/v1/unload', summary: 'Takes the model out of memory.' },
    ...{ request: z.object({}), reply: replies.unloadReplySchema, error: openAiError },
  },
];

/** The API as an OpenAPI 3.1 document, made from the schemas that requests are read with. */
export function openApiDocument(version: string) {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method] = describe(operation);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Dormouse', version, description: 'Errors have the shape of the dialect that was spoken.' },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
    },
    security: [{}, { bearer: [] }, { apiKey: [] }],
    paths,
  };
}

function describe({ path, summary, request, reply, event, error, open }: Operation) {
  const good = reply === 'text' ? { 'text/plain': { schema: { type: 'string' } } } : jsonContent(reply);
  const stream = event === undefined ? {} : { 'text/event-stream': { schema: toSchema(event) } };
  return {
    summary,
    ...(path.includes('{id}')
      ? { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] }
      : {}),
    ...(request === undefined ? {} : { requestBody: { required: true, content: jsonContent(request) } }),
    ...(open === true ? { security: [] } : {}),
    responses: {
      '200': { description: 'The answer.', content: { ...good, ...stream } },
      default: { description: 'What went wrong.', content: jsonContent(error) },
    },
  };
}

function jsonContent(schema: z.ZodType) {
  return { 'application/json': { schema: toSchema(schema) } };
}

/** Also replies as "input": a reply may get further fields, so that its schema must not forbid them. */
function toSchema(schema: z.ZodType) {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
