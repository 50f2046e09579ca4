import type { en } from './en.ts';

export type SnippetKind = keyof typeof en.snippetKinds;

export interface SnippetValues {
  /** Scheme, host and port. */
  readonly url: string;
  readonly model: string;
  /** Whether programs must send a key. It is named by a variable: what is pasted around must not hold it. */
  readonly needsKey: boolean;
}

const question = 'Why do the workers sleep?';

/** Text for a client, and the language it is in. */
export function snippet(
  kind: SnippetKind,
  values: SnippetValues,
): { readonly language: string; readonly text: string } {
  switch (kind) {
    case 'curl':
      return { language: 'shell', text: curl(values) };
    case 'python':
      return { language: 'python', text: python(values) };
    case 'javascript':
      return { language: 'javascript', text: javascript(values) };
    case 'anthropic':
      return { language: 'python', text: anthropic(values) };
    case 'environment':
      return { language: 'shell', text: environment(values) };
  }
}

function curl({ url, model, needsKey }: SnippetValues): string {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: question }] });
  return [
    `curl -N ${url}/v1/chat/completions \\`,
    ...(needsKey ? ['  -H "Authorization: Bearer $DORMOUSE_API_KEY" \\'] : []),
    "  -H 'Content-Type: application/json' \\",
    // A model's name may hold an apostrophe.
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join('\n');
}

function python({ url, model, needsKey }: SnippetValues): string {
  return `${needsKey ? 'import os\n' : ''}from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key=${needsKey ? 'os.environ["DORMOUSE_API_KEY"]' : '"none"'})
stream = client.chat.completions.create(
    model=${JSON.stringify(model)},
    messages=[{"role": "user", "content": "${question}"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`;
}

function javascript({ url, model, needsKey }: SnippetValues): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${url}/v1', apiKey: ${needsKey ? 'process.env.DORMOUSE_API_KEY' : "'none'"} });
const stream = await client.chat.completions.create({
  model: ${JSON.stringify(model)},
  messages: [{ role: 'user', content: '${question}' }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`;
}

function anthropic({ url, model, needsKey }: SnippetValues): string {
  return `${needsKey ? 'import os\n' : ''}from anthropic import Anthropic

client = Anthropic(base_url="${url}", api_key=${needsKey ? 'os.environ["DORMOUSE_API_KEY"]' : '"none"'})
with client.messages.stream(
    model=${JSON.stringify(model)},
    max_tokens=200,
    messages=[{"role": "user", "content": "${question}"}],
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)`;
}

function environment({ url, model, needsKey }: SnippetValues): string {
  const key = needsKey ? '"$DORMOUSE_API_KEY"' : 'none';
  return `# OpenAI-compatible tools: Continue, Cline, Aider and most others
export OPENAI_BASE_URL=${url}/v1
export OPENAI_API_BASE=${url}/v1
export OPENAI_API_KEY=${key}
# Anthropic-compatible tools: Claude Code and others
export ANTHROPIC_BASE_URL=${url}
export ANTHROPIC_API_KEY=${key}
# The model to name in them
export OPENAI_MODEL='${model.replaceAll("'", "'\\''")}'`;
}
