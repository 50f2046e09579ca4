/** The only place where a flag is defined. Panel, `--help`, parsing, README table and status are made from it. */

export type FlagGroup = 'start' | 'server' | 'model' | 'placement' | 'pool' | 'speculation' | 'sampling' | 'sleep';

type FlagBase = {
  readonly group: FlagGroup;
  /** Plain-language help, one sentence or two, no full-width jargon. */
  readonly help: string;
  /** A change takes effect only after the model is loaded again. */
  readonly reload: boolean;
  /** Where it is offered. */
  readonly where: 'panel' | 'command' | 'both';
  /** Defined but not built yet: shown disabled, refused on the command line. */
  readonly planned?: true;
};

export type Flag = FlagBase &
  (
    | { readonly type: 'switch'; readonly default: boolean }
    | { readonly type: 'text'; readonly default: string | null; readonly placeholder: string }
    | {
        readonly type: 'list';
        readonly default: readonly string[];
        readonly placeholder: string;
        /** What each value must look like; `placeholder` says it in words. */
        readonly pattern?: RegExp;
      }
    | { readonly type: 'choice'; readonly default: string; readonly choices: readonly string[] }
    | {
        readonly type: 'number';
        readonly integer: boolean;
        readonly unit: string;
        readonly min: number;
        readonly max: number;
        /** Words accepted beside a number, such as `auto`. */
        readonly words: readonly string[];
        /** null: unset; another source decides (model card, random, none). */
        readonly default: number | string | null;
      }
  );

export const flags = {
  serve: { type: 'switch', default: false, group: 'start', reload: false, where: 'command', help: 'No window: run the background server.' },
  'data-dir': { type: 'text', default: null, placeholder: 'DIR', group: 'start', reload: false, where: 'command', help: 'Folder for logs, settings and chats. Default: the usual place of this system.' },
  'log-level': { type: 'choice', default: 'info', choices: ['error', 'warn', 'info', 'debug'], group: 'start', reload: false, where: 'both', help: 'How much goes into the log file. Prompt text never does.' },
  hidden: { type: 'switch', default: false, group: 'start', reload: false, where: 'command', help: 'Desktop app: start in the tray, without showing the window.' },
  'software-rendering': { type: 'switch', default: false, group: 'start', reload: false, where: 'command', help: 'Desktop app: draw the window without the graphics card, where its driver shows it black or crashes. Models are not affected.' },
  open: { type: 'switch', default: false, group: 'start', reload: false, where: 'command', help: 'Open the page in the default browser.' },

  host: { type: 'text', default: '127.0.0.1', placeholder: 'ADDRESS', group: 'server', reload: false, where: 'both', help: 'Address the server listens on. Beyond this computer an API key is required.' },
  port: { type: 'number', integer: true, unit: '', min: 0, max: 65535, words: [], default: 8089, group: 'server', reload: false, where: 'both', help: 'Port of the server; 0 takes any free one.' },
  'api-key': { type: 'text', default: null, placeholder: 'KEY', group: 'server', reload: false, where: 'both', help: 'Key that programs must send as "Authorization: Bearer KEY". The variable DORMOUSE_API_KEY does the same without showing the key in the process list.' },
  'cors-origin': { type: 'list', default: [], placeholder: 'ORIGIN', pattern: /^https?:\/\/[^\s\/?#@]+$/, group: 'server', reload: false, where: 'both', help: 'Web page origin that may call the API, such as http://localhost:3000. Can be given several times.' },
  'allowed-host': { type: 'list', default: [], placeholder: 'NAME', group: 'server', reload: false, where: 'both', help: 'Further host name under which the server may be addressed. Can be given several times.' },
  'model-switch': { type: 'switch', default: false, group: 'server', reload: false, where: 'both', help: 'A request that names another known model loads it, after the running answers have ended. Off: it is told which one is loaded.' },
  alias: { type: 'list', default: [], placeholder: 'NAME=MODEL', pattern: /^[^\s=]{1,200}=\S.*$/, group: 'server', reload: false, where: 'both', help: 'Another name for a model, for programs that insist on one, such as gpt-4o=builtin. MODEL is "builtin", an id that GET /v1/models lists, or the path of a GGUF file, which becomes known by that. Can be given several times.' },
  parallel: { type: 'number', integer: true, unit: 'sequences', min: 1, max: 16, words: [], default: 1, group: 'server', reload: true, where: 'both', help: 'Requests answered at the same time. Each has the whole --context for itself, so that the KV cache takes as many times the memory.' },
  queue: { type: 'number', integer: true, unit: 'requests', min: 1, max: 10_000, words: [], default: 64, group: 'server', reload: false, where: 'both', help: 'Requests that may wait for their turn. More are refused with 429.' },
  'prompt-cache': { type: 'text', default: 'off', placeholder: 'DIR|off', group: 'server', reload: false, where: 'both', help: 'Folder in which prompts already read are kept across restarts. They are the text of your chats and requests in a form that can be read back; only you may read the files.' },

  model: { type: 'text', default: null, placeholder: 'PATH|builtin', group: 'model', reload: true, where: 'both', help: 'The GGUF file to load, or "builtin" for the built-in demo model. Default: the last one used, else builtin.' },
  'models-dir': { type: 'list', default: [], placeholder: 'DIR', group: 'model', reload: false, where: 'both', planned: true, help: 'Folder with GGUF files to offer. Can be given several times.' },
  context: { type: 'number', integer: true, unit: 'tokens', min: 64, max: 10_485_760, words: ['auto'], default: 'auto', group: 'model', reload: true, where: 'both', help: 'How many tokens the model can see at once. Auto: what it was trained on, at most 8192.' },
  batch: { type: 'number', integer: true, unit: 'tokens', min: 1, max: 16_384, words: [], default: 512, group: 'model', reload: true, where: 'both', help: 'Prompt tokens evaluated in one go. Stop takes effect between batches.' },
  kv: { type: 'choice', default: 'f16', choices: ['f16', 'q8_0', 'q4_0'], group: 'model', reload: true, where: 'both', help: 'Number format of the KV cache. Smaller formats save memory and lose a little accuracy.' },
  'chat-format': { type: 'choice', default: 'auto', choices: ['auto', 'chatml', 'qwen', 'harmony', 'deepseek', 'llama3', 'mistral', 'gemma', 'general'], group: 'model', reload: true, where: 'both', help: 'How chats are written for the model. Auto follows the template in its file.' },
  'flash-attention': { type: 'choice', default: 'auto', choices: ['auto', 'on', 'off'], group: 'model', reload: true, where: 'both', help: 'Attention that needs less memory. Auto lets llama.cpp decide.' },
  mmap: { type: 'choice', default: 'on', choices: ['on', 'off'], group: 'model', reload: true, where: 'both', help: 'Map the file into memory instead of copying it.' },
  mlock: { type: 'switch', default: false, group: 'model', reload: true, where: 'both', help: 'Keep the model in RAM so that it is never swapped out.' },

  gpu: { type: 'choice', default: 'auto', choices: ['auto', 'cuda', 'vulkan', 'metal', 'off'], group: 'placement', reload: true, where: 'both', help: 'Graphics backend. Auto tries CUDA, then Vulkan or Metal, then the CPU.' },
  'gpu-device': { type: 'text', default: null, placeholder: 'NAME', group: 'placement', reload: true, where: 'both', help: 'Graphics card to use where there are several: its name or a part of its description. Default: the one chosen before, else the one with the most free memory.' },
  'gpu-layers': { type: 'number', integer: true, unit: 'layers', min: 0, max: 10_000, words: ['auto'], default: 'auto', group: 'placement', reload: true, where: 'both', help: 'Layers whose dense part is on the GPU. Auto: as many as fit.' },
  'cpu-moe': { type: 'switch', default: false, group: 'placement', reload: true, where: 'both', help: 'Experts of all layers stay in RAM and run on the pool.' },
  'n-cpu-moe': { type: 'number', integer: true, unit: 'layers', min: 0, max: 10_000, words: ['auto'], default: 'auto', group: 'placement', reload: true, where: 'both', help: 'Experts of the first N layers stay in RAM and run on the pool. Auto: as few as the graphics memory asks for.' },
  'expert-cache': { type: 'number', integer: true, unit: 'MiB', min: 1, max: 1_048_576, words: ['off', 'auto'], default: 'off', group: 'placement', reload: true, where: 'both', planned: true, help: 'Graphics memory for the experts that are used most.' },
  'adapt-every': { type: 'number', integer: true, unit: 'rounds', min: 1, max: 10_000, words: [], default: 4, group: 'placement', reload: false, where: 'both', planned: true, help: 'Decode rounds between two looks at which experts are hot.' },
  'adapt-swaps': { type: 'number', integer: true, unit: 'experts', min: 0, max: 10_000, words: [], default: 96, group: 'placement', reload: false, where: 'both', planned: true, help: 'Experts swapped at most per look; 0 keeps them where they are.' },

  threads: { type: 'number', integer: true, unit: 'threads', min: 1, max: 1024, words: ['auto'], default: 'auto', group: 'pool', reload: true, where: 'both', help: 'CPU threads of llama.cpp. Auto: physical cores within the limits set for this process.' },
  pool: { type: 'choice', default: 'on', choices: ['on', 'off'], group: 'pool', reload: true, where: 'both', help: 'Compute experts on the sleeping pool. Off runs the stock CPU path, for comparison.' },
  'pool-threads': { type: 'number', integer: true, unit: 'threads', min: 1, max: 1024, words: ['auto'], default: 'auto', group: 'pool', reload: true, where: 'both', help: 'Host plus workers of the pool.' },
  'pool-affinity': { type: 'choice', default: 'auto', choices: ['off', 'auto', 'p-cores'], group: 'pool', reload: true, where: 'both', help: 'Cores on which workers may run.' },
  'spin-ms': { type: 'number', integer: false, unit: 'ms', min: 0, max: 1000, words: ['always'], default: 20, group: 'pool', reload: false, where: 'both', help: 'How long a worker waits at full speed before it sleeps. 0 sleeps at once.' },

  spec: { type: 'number', integer: true, unit: 'tokens', min: 0, max: 8, words: [], default: 0, group: 'speculation', reload: true, where: 'both', planned: true, help: 'Verify window of speculative decoding; 0 is off.' },
  'spec-mode': { type: 'choice', default: 'lookup', choices: ['lookup', 'draft'], group: 'speculation', reload: true, where: 'both', planned: true, help: 'Where drafted tokens come from.' },
  draft: { type: 'text', default: null, placeholder: 'PATH', group: 'speculation', reload: true, where: 'both', planned: true, help: 'Small model that drafts tokens.' },

  temperature: { type: 'number', integer: false, unit: '', min: 0, max: 5, words: [], default: null, group: 'sampling', reload: false, where: 'both', help: 'Boldness of word choice; 0 always takes the likeliest. Default: the model card\'s, else 0.7.' },
  'top-p': { type: 'number', integer: false, unit: '', min: 0, max: 1, words: [], default: null, group: 'sampling', reload: false, where: 'both', help: 'Keep the likeliest tokens that together reach this probability. Default: the model card\'s, else 0.95.' },
  'top-k': { type: 'number', integer: true, unit: '', min: 0, max: 1_000_000, words: [], default: null, group: 'sampling', reload: false, where: 'both', help: 'Keep this many of the likeliest tokens; 0 keeps all. Default: the model card\'s, else 40.' },
  'min-p': { type: 'number', integer: false, unit: '', min: 0, max: 1, words: [], default: null, group: 'sampling', reload: false, where: 'both', help: 'Drop tokens below this share of the likeliest one. Default: the model card\'s, else 0.05.' },
  'repeat-penalty': { type: 'number', integer: false, unit: '', min: 0.1, max: 5, words: [], default: null, group: 'sampling', reload: false, where: 'both', help: 'Above 1 makes repetition less likely. Default: the model card\'s, else 1.' },
  seed: { type: 'number', integer: true, unit: '', min: 0, max: 4_294_967_295, words: ['random'], default: 'random', group: 'sampling', reload: false, where: 'both', help: 'Start of the random numbers; the same seed and settings give the same text.' },
  'max-tokens': { type: 'number', integer: true, unit: 'tokens', min: 1, max: 10_485_760, words: ['none'], default: 'none', group: 'sampling', reload: false, where: 'both', help: 'Longest answer.' },

  'idle-unload': { type: 'number', integer: false, unit: 'minutes', min: 0.1, max: 100_000, words: ['off'], default: 30, group: 'sleep', reload: false, where: 'both', help: 'Minutes without a request until the model leaves memory. The next request loads it again.' },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;
export const flagNames = Object.keys(flags) as readonly FlagName[];

type ValueOf<F extends Flag> = F extends { type: 'switch' }
  ? boolean
  : F extends { type: 'list' }
    ? readonly string[]
    : F extends { type: 'text'; default: infer D }
      ? string | D
      : F extends { type: 'choice'; choices: readonly (infer C)[] }
        ? C
        : F extends { type: 'number'; words: readonly (infer W)[]; default: infer D }
          ? number | W | (D extends null ? null : never)
          : never;

/** A value for every flag, defaults filled in. */
export type FlagValues = { readonly [N in FlagName]: ValueOf<(typeof flags)[N]> };

/** A flag by name, as the wide type that code over all flags works with. */
export function flagOf(name: FlagName): Flag {
  return flags[name];
}

export const defaultFlagValues: FlagValues = Object.fromEntries(
  flagNames.map((name) => [name, flags[name].default]),
) as unknown as FlagValues;

/** What a flag accepts, in words, as printed in help and in errors: `0 to 65535`, `auto, or 64 to 10485760 tokens`. */
export function flagRange(flag: Flag): string {
  switch (flag.type) {
    case 'switch':
      return 'no value';
    case 'text':
    case 'list':
      return flag.placeholder;
    case 'choice':
      return flag.choices.join(', ');
    case 'number': {
      const unit = flag.unit === '' ? '' : ` ${flag.unit}`;
      const range = `${flag.min} to ${flag.max}${unit}`;
      return flag.words.length === 0 ? range : `${flag.words.join(', ')}, or ${range}`;
    }
  }
}

export type FlagError = { readonly flag: string; readonly message: string };

/** Reads one flag's text as its value. Errors name the flag, the value and what is allowed. */
export function parseFlagValue(
  name: FlagName,
  text: string,
): { readonly ok: true; readonly value: string | number } | { readonly ok: false; readonly error: FlagError } {
  const flag = flagOf(name);
  const refuse = () =>
    ({ ok: false, error: { flag: name, message: `--${name} ${JSON.stringify(text)}: expected ${flagRange(flag)}` } }) as const;
  switch (flag.type) {
    case 'switch':
      return refuse();
    case 'text':
    case 'list': {
      const pattern = flag.type === 'list' ? flag.pattern : undefined;
      return text === '' || pattern?.test(text) === false ? refuse() : { ok: true, value: text };
    }
    case 'choice':
      return flag.choices.includes(text) ? { ok: true, value: text } : refuse();
    case 'number': {
      if (flag.words.includes(text)) return { ok: true, value: text };
      const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
      const allowed = value >= flag.min && value <= flag.max && (!flag.integer || Number.isInteger(value));
      return allowed ? { ok: true, value } : refuse();
    }
  }
}
