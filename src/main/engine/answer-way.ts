import { fail, ok, type Result } from '../contract/index.ts';
import type { ChatTurn, GenerateRequest, JsonSchema, Prompt, ToolDefinition } from './engine.ts';

/** How an answer comes about. */
export type AnswerWay =
  /** The model speaks as its chat format lets it: thinking, text, calls of its own. */
  | { readonly kind: 'chat'; readonly tools: readonly ToolDefinition[]; readonly parallel: boolean }
  /** Text from the first token on; under a schema JSON only. */
  | { readonly kind: 'text'; readonly schema: JsonSchema | null }
  /** One call of one of `choices`; all `tools` are told to the model. */
  | { readonly kind: 'call'; readonly tools: readonly ToolDefinition[]; readonly choices: readonly ToolDefinition[] };

/** Names that every chat format can write down. */
const toolName = /^[a-zA-Z0-9_.-]{1,64}$/;

/** @returns errors for tools that are not named properly, and for what cannot be asked for together. */
export function answerWay({
  prompt,
  output,
  tools,
}: Pick<GenerateRequest, 'prompt' | 'output' | 'tools'>): Result<AnswerWay> {
  const schema = output.kind === 'text' ? null : output.kind === 'json' ? { type: 'object' } : output.schema;
  if (tools === null || tools.tools.length === 0) {
    if (tools !== null && tools.choice !== 'auto')
      return fail('invalid_input', 'A tool is demanded, but none is given.');
    return ok(
      prompt.kind === 'chat' && schema === null
        ? { kind: 'chat', tools: [], parallel: false }
        : { kind: 'text', schema },
    );
  }
  if (prompt.kind === 'text') return fail('invalid_input', 'Only a chat can have tools.');
  const problem = badTool(tools.tools);
  if (problem !== null) return fail('invalid_input', problem);
  const { choice } = tools;
  if (choice === 'auto') {
    if (schema === null) return ok({ kind: 'chat', tools: tools.tools, parallel: tools.parallel });
    return fail(
      'schema_unsupported',
      'An answer cannot both be free to call tools and be held to JSON.',
      'Demand a tool, or leave the tools or the format out.',
    );
  }
  const choices = choice === 'required' ? tools.tools : tools.tools.filter((tool) => tool.name === choice.name);
  if (choices.length === 0) return fail('invalid_input', 'The tool that is demanded is not among the tools.');
  return ok({ kind: 'call', tools: tools.tools, choices });
}

function badTool(tools: readonly ToolDefinition[]): string | null {
  const names = tools.map((tool) => tool.name);
  const bad = names.find((name) => !toolName.test(name));
  if (bad !== undefined) {
    return `The tool name ${JSON.stringify(bad.slice(0, 80))} is not made of 1 to 64 letters, digits, "_", "-" and ".".`;
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? null : `There are two tools named "${twice}".`;
}

/** @returns what is wrong with the order of the turns; null: nothing. */
function badTurns(turns: readonly ChatTurn[]): string | null {
  const known = new Set<string>();
  for (const turn of turns) {
    if (turn.role === 'tool' && !known.has(turn.callId)) {
      return 'A tool result answers no call of an assistant turn before it.';
    }
    if (turn.role === 'assistant') for (const call of turn.toolCalls ?? []) known.add(call.id);
  }
  return null;
}

/** @returns what is wrong with a prompt whatever the model; null: nothing. */
export function badPrompt(prompt: Prompt) {
  if (prompt.kind === 'text') return null;
  const { turns } = prompt;
  if (!turns.some((turn) => turn.role !== 'system' && turn.text.trim() !== '')) {
    return fail('prompt_empty', 'The message is empty.', 'Write something first.');
  }
  const problem = badTurns(turns);
  return problem === null ? null : fail('invalid_input', problem);
}
