export type Problem = { readonly param: string | null; readonly code: string; readonly message: string };

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isEmpty = (value: unknown) =>
  value === false || value === 0 || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** Fields that would change the answer, each with the values under which it changes nothing. */
const harmlessWhen: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  tools: isEmpty,
  tool_choice: (value) => value === 'none' || value === 'auto',
  functions: isEmpty,
  function_call: (value) => value === 'none' || value === 'auto',
  response_format: (value) => isRecord(value) && value['type'] === 'text',
  logprobs: isEmpty,
  top_logprobs: isEmpty,
  logit_bias: isEmpty,
  frequency_penalty: isEmpty,
  presence_penalty: isEmpty,
  modalities: (value) => Array.isArray(value) && value.every((kind) => kind === 'text'),
  audio: isEmpty,
  web_search_options: () => false,
  grammar: (value) => value === '',
  json_schema: isEmpty,
};

/** The first thing asked for that this server cannot do yet: refused, since ignoring it would give a wrong answer. */
export function findUnsupported(body: Readonly<Record<string, unknown>>): Problem | null {
  for (const [field, harmless] of Object.entries(harmlessWhen)) {
    const value = Object.hasOwn(body, field) ? body[field] : undefined;
    if (value !== undefined && value !== null && !harmless(value)) {
      const what = field === 'n' ? 'n other than 1' : `"${field}" with this value`;
      return unsupported(field, `${what} is not supported yet`);
    }
  }
  const messages = body['messages'];
  if (!Array.isArray(messages)) return null;
  for (const [index, message] of messages.entries()) {
    const problem = isRecord(message) ? messageProblem(message, `messages[${index}]`) : null;
    if (problem !== null) return problem;
  }
  const last: unknown = messages.at(-1);
  if (isRecord(last) && last['role'] === 'assistant') {
    return unsupported(
      'messages',
      'Continuing an assistant message is not supported yet; the last message must be another',
    );
  }
  return null;
}

function messageProblem(message: Readonly<Record<string, unknown>>, path: string): Problem | null {
  const {
    role,
    content,
    tool_calls: toolCalls,
  } = message as { role?: unknown; content?: unknown; tool_calls?: unknown };
  if (role === 'tool' || role === 'function')
    return unsupported(`${path}.role`, `The role "${role}" is not supported yet`);
  if (toolCalls !== undefined && toolCalls !== null && !isEmpty(toolCalls)) {
    return unsupported(`${path}.tool_calls`, 'Tool calls are not supported yet');
  }
  if (!Array.isArray(content)) return null;
  const index = content.findIndex(
    (part) => isRecord(part) && typeof part['type'] === 'string' && part['type'] !== 'text',
  );
  if (index === -1) return null;
  const type = (content[index] as { type: string }).type.slice(0, 40);
  return unsupported(`${path}.content[${index}]`, `Content of type "${type}" is not supported yet, only text`);
}

function unsupported(param: string, message: string): Problem {
  return { param, code: 'unsupported_value', message: `${message}.` };
}
