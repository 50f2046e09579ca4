import type { Sampling } from '../contract/index.ts';
import type { ChatTurn, OutputFormat, Prompt, ToolUse } from '../engine/index.ts';

/** What is asked of a remote's model. */
export type RemoteChat = {
  readonly model: string;
  readonly prompt: Prompt;
  readonly sampling: Sampling;
  readonly stop: readonly string[];
  readonly logitBias: ReadonlyMap<number, number>;
  readonly output: OutputFormat;
  readonly tools: ToolUse | null;
};

/** Route and JSON text of a request that streams. Only what was asked for is in it: strict servers refuse the rest. */
export function chatRequest(chat: RemoteChat): { readonly path: string; readonly body: string } {
  const { prompt } = chat;
  const common = { model: chat.model, ...samplingFields(chat), stream: true, stream_options: { include_usage: true } };
  if (prompt.kind === 'text') {
    return { path: '/completions', body: JSON.stringify({ ...common, prompt: prompt.text }) };
  }
  const whole = {
    ...common,
    messages: prompt.turns.map(message),
    ...formatField(chat.output),
    ...toolFields(chat.tools),
  };
  return { path: '/chat/completions', body: JSON.stringify(whole) };
}

function samplingFields({ sampling, stop, logitBias }: RemoteChat) {
  const { temperature, topP, topK, minP, repeatPenalty, seed, maxTokens, ...rest } = sampling;
  const { frequencyPenalty, presencePenalty } = rest as {
    readonly frequencyPenalty?: number;
    readonly presencePenalty?: number;
  };
  const fields = {
    temperature,
    top_p: topP,
    top_k: topK,
    min_p: minP,
    repeat_penalty: repeatPenalty,
    frequency_penalty: frequencyPenalty,
    presence_penalty: presencePenalty,
    seed,
    max_tokens: maxTokens,
    stop: stop.length === 0 ? undefined : stop,
    logit_bias: logitBias.size === 0 ? undefined : Object.fromEntries(logitBias),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function message(turn: ChatTurn) {
  switch (turn.role) {
    case 'system':
    case 'user':
      return { role: turn.role, content: turn.text };
    case 'tool':
      return { role: 'tool', tool_call_id: turn.callId, content: turn.text };
    case 'assistant': {
      const calls = turn.toolCalls ?? [];
      if (calls.length === 0) return { role: 'assistant', content: turn.text };
      const toolCalls = calls.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      }));
      return { role: 'assistant', content: turn.text === '' ? null : turn.text, tool_calls: toolCalls };
    }
  }
}

function formatField(output: OutputFormat) {
  switch (output.kind) {
    case 'text':
      return {};
    case 'json':
      return { response_format: { type: 'json_object' } };
    case 'json_schema': {
      const schema = { name: 'answer', schema: output.schema, strict: true };
      return { response_format: { type: 'json_schema', json_schema: schema } };
    }
  }
}

function toolFields(use: ToolUse | null) {
  if (use === null) return {};
  const tools = use.tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: {
      name,
      ...(description === null ? {} : { description }),
      ...(parameters === null ? {} : { parameters }),
    },
  }));
  const choice =
    typeof use.choice === 'string' ? use.choice : { type: 'function', function: { name: use.choice.name } };
  return { tools, tool_choice: choice, ...(use.parallel ? {} : { parallel_tool_calls: false }) };
}
