import {
  InsufficientMemoryError,
  LlamaChat,
  type ChatWrapper,
  type Llama,
  type LlamaContext,
  type LlamaContextSequence,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp';
import {
  fail,
  ok,
  type ModelInfo,
  type Result,
  type Sampling,
  type StopReason,
  type StreamPart,
} from '../contract/index.ts';
import type { LoadPlan, MeasuredMemory } from './engine-placement.ts';
import type { GenerateOutcome, GenerateRequest, LoadRequest } from './engine.ts';
import { nothingGenerated } from './engine.ts';
import { fitTurns } from './fit-turns.ts';
import type { ChatFormats } from './llama-chat-format.ts';
import type { GgufFacts } from './llama-gguf.ts';
import { aligningWrapper, alignPrompt, historyOf, renderPrompt } from './llama-prompt.ts';
import { modelId } from './model-id.ts';
import { builtinSampling, fullSampling, type FullSampling } from './sampling.ts';
import { autoThreads, threadFacts } from './threads.ts';

/** Most tokens that `--context auto` takes. */
const largestAutoContext = 8192;
/** Characters per token that no vocabulary exceeds over a whole prompt; longer prompts are refused without tokenizing. */
const mostCharactersPerToken = 256;
/** Part of the context kept free for the answer when old turns are dropped. */
const answerShare = 1 / 4;

export type GenerateHooks = {
  readonly signal: AbortSignal;
  /** How long the generation had waited in the queue. */
  readonly queuedMs: number;
  readonly onPrefill: (done: number, total: number) => void;
  readonly onDecode: () => void;
  /** @param tokens how many tokens the part was made of. */
  readonly onPart: (part: StreamPart, tokens: number) => void;
};

type Prompt = { readonly tokens: Token[]; readonly dropped: number; readonly turns: GenerateRequest['turns'] };

/** One loaded model with its context and one sequence. Not reentrant: one generation at a time. */
export class LlamaRuntime {
  readonly info: ModelInfo;
  readonly request: LoadRequest;
  readonly #model: LlamaModel;
  readonly #context: LlamaContext;
  readonly #wrapper: ChatWrapper;
  readonly #card: Sampling;
  #sequence: LlamaContextSequence;

  private constructor(
    request: LoadRequest,
    facts: GgufFacts,
    model: LlamaModel,
    context: LlamaContext,
    wrapper: ChatWrapper,
  ) {
    this.request = request;
    this.#model = model;
    this.#context = context;
    this.#wrapper = wrapper;
    this.#sequence = context.getSequence();
    this.#card = request.builtin ? builtinSampling : facts.sampling;
    this.info = {
      id: modelId(request),
      name: facts.name,
      path: request.path,
      builtin: request.builtin,
      architecture: facts.architecture,
      quantization: facts.quantization,
      sizeBytes: facts.sizeBytes,
      layers: facts.layers,
      experts: facts.experts,
      expertsUsed: facts.expertsUsed,
      contextTrained: facts.contextTrained,
      contextSize: this.#sequence.contextSize,
      chatFormat: this.#wrapper.wrapperName,
      thinks: this.#wrapper.settings.segments?.thought !== undefined,
    };
  }

  /** @param signal cancels; the promise then rejects with its reason. @throws what node-llama-cpp throws. */
  static async load(
    llama: Llama,
    request: LoadRequest,
    facts: GgufFacts,
    formats: ChatFormats,
    signal: AbortSignal,
    onProgress: (share: number) => void,
    plan: LoadPlan,
  ): Promise<LlamaRuntime> {
    // With a GPU our plan holds: node-llama-cpp's estimate counts all experts as graphics memory.
    const planned = plan.device !== null;
    const model = await llama.loadModel({
      modelPath: request.path,
      gpuLayers: plan.placement.gpuLayers,
      ignoreMemorySafetyChecks: planned,
      useMmap: request.mmap,
      useMlock: request.mlock,
      loadSignal: signal,
      onLoadProgress: onProgress,
    });
    try {
      const trained = facts.contextTrained === 0 ? largestAutoContext : facts.contextTrained;
      const kvType = request.kvType === 'f16' ? {} : kvTypes(request.kvType);
      const context = await model.createContext({
        contextSize:
          request.contextSize === 'auto' && !planned
            ? { max: Math.min(largestAutoContext, trained) }
            : plan.placement.contextSize,
        ignoreMemorySafetyChecks: planned,
        ...(planned ? { failedCreationRemedy: false } : {}),
        batchSize: request.batchSize,
        threads:
          request.threads === 'auto' ? autoThreads(threadFacts(llama.cpuMathCores, facts.sizeBytes)) : request.threads,
        flashAttention: request.flashAttention === 'auto' ? 'auto' : request.flashAttention === 'on',
        createSignal: signal,
        ...kvType,
      });
      return new LlamaRuntime(request, facts, model, context, formats.resolve(model, request.chatFormat));
    } catch (error) {
      await model.dispose();
      throw error;
    }
  }

  /** Bytes that model and context took. */
  get memory(): MeasuredMemory {
    return {
      model: this.#model.memoryUsage,
      context: this.#context.memoryUsage,
      mapped: this.#model.useMmap,
    };
  }

  /** Tokens in the KV cache. */
  get contextUsed(): number {
    return this.#sequence.disposed ? 0 : this.#sequence.nextTokenIndex;
  }

  async dispose(): Promise<void> {
    await this.#context.dispose();
    await this.#model.dispose();
  }

  /** Evaluates the prompt batch by batch, then decodes until a stop. The sequence can be used again after every outcome. */
  async generate(request: GenerateRequest, hooks: GenerateHooks): Promise<Result<GenerateOutcome>> {
    const sampling = fullSampling(request.sampling, this.#card, randomSeed);
    const prompt = this.#fit(request, sampling);
    if (!prompt.ok) return prompt;
    try {
      return ok(await this.#run(request, sampling, prompt.data, hooks));
    } catch (error) {
      await this.#renewSequence();
      if (hooks.signal.aborted) return ok(nothingGenerated(hooks.queuedMs));
      const memory = error instanceof InsufficientMemoryError;
      return fail(
        memory ? 'out_of_memory' : 'generation_failed',
        `The model could not go on: ${error instanceof Error ? error.message : String(error)}`,
        memory
          ? 'Choose a smaller context or a smaller model.'
          : 'Try again. If it happens again, load the model anew.',
      );
    }
  }

  #fit(request: GenerateRequest, sampling: FullSampling): Result<Prompt> {
    const size = this.#sequence.contextSize;
    const tooLong = (tokens: string) =>
      fail(
        'prompt_too_long',
        `The prompt has ${tokens} tokens, but the context holds ${size}.`,
        'Shorten the text, or load the model with a larger context (--context).',
      );
    const essential = request.turns.filter(
      (turn, index) => turn.role === 'system' || index === request.turns.length - 1,
    );
    const lengthOf = (turns: GenerateRequest['turns']) => turns.reduce((sum, turn) => sum + turn.text.length, 0);
    const limit = size * mostCharactersPerToken;
    if (lengthOf(request.overflow === 'refuse' ? request.turns : essential) > limit) {
      return tooLong(`about ${this.#estimateTokens(request.turns)}`);
    }
    const render = (turns: GenerateRequest['turns']) => renderPrompt(this.#model, this.#wrapper, historyOf(turns));
    const room = Math.min(Math.max(1, Math.floor(size * answerShare)), sampling.maxTokens ?? size);
    const hardLimit = size - 2;
    if (request.overflow === 'refuse') {
      const tokens = render(request.turns);
      return tokens.length > hardLimit
        ? tooLong(String(tokens.length))
        : ok({ tokens, dropped: 0, turns: request.turns });
    }
    const fit = fitTurns(request.turns, render, (tokens) => tokens.length, Math.min(size - room, hardLimit), hardLimit);
    if (!fit.fits) return tooLong(String(fit.promptTokens));
    return ok({ tokens: fit.prompt, dropped: fit.dropped, turns: fit.turns });
  }

  /** Tokens of a text too long to tokenize in one go, from the density of its beginning. */
  #estimateTokens(turns: GenerateRequest['turns']): number {
    const text = turns.map((turn) => turn.text).join('\n');
    const sample = text.slice(0, 16_384);
    return Math.round((this.#model.tokenize(sample).length / sample.length) * text.length);
  }

  async #run(
    request: GenerateRequest,
    sampling: FullSampling,
    prompt: Prompt,
    hooks: GenerateHooks,
  ): Promise<GenerateOutcome> {
    const started = performance.now();
    const evaluated = await this.#prefill(prompt.tokens, hooks);
    const prefilled = performance.now();
    const meter = this.#sequence.tokenMeter.getState();
    let first: number | null = null;
    let stopReason: StopReason = 'stopped';
    if (!hooks.signal.aborted) {
      stopReason = await this.#decode(request, sampling, prompt, {
        ...hooks,
        onPart: (part, tokens) => {
          first ??= performance.now();
          hooks.onPart(part, tokens);
        },
      });
    }
    const ended = performance.now();
    const used = this.#sequence.tokenMeter.diff(meter);
    const predictedTokens = used.usedOutputTokens;
    const predictedMs = predictedTokens === 0 ? 0 : ended - prefilled;
    return {
      stopReason,
      timings: {
        promptTokens: prompt.tokens.length,
        // The meter books the last prompt token, from which the first answer token comes, as output.
        promptTokensEvaluated: evaluated + used.usedInputTokens + (predictedTokens > 0 ? 1 : 0),
        turnsDropped: prompt.dropped,
        queuedMs: hooks.queuedMs,
        prefillMs: prefilled - started,
        timeToFirstTokenMs: first === null ? null : first - started,
        predictedTokens,
        predictedMs,
        tokensPerSecond: predictedMs > 0 ? (predictedTokens / predictedMs) * 1000 : null,
      },
    };
  }

  /**
   * Feeds everything but the last token, one batch per call: a longer call could be neither stopped nor, if it failed,
   * repaired. @returns tokens evaluated.
   */
  async #prefill(tokens: readonly Token[], hooks: GenerateHooks): Promise<number> {
    const sequence = this.#sequence;
    const fed = alignPrompt(sequence, tokens).slice(0, -1);
    await sequence.adaptStateToTokens(fed, false);
    const begin = sequence.nextTokenIndex;
    const batchSize = this.#context.batchSize;
    for (let at = begin; at < fed.length && !hooks.signal.aborted; at += batchSize) {
      hooks.onPrefill(at - begin, fed.length - begin);
      try {
        await sequence.evaluateWithoutGeneratingNewTokens(fed.slice(at, at + batchSize));
      } catch (error) {
        // The pool ends a batch in the middle when it is told to stop: the sequence stands at the last whole batch.
        if (!hooks.signal.aborted) throw error;
        return at - begin;
      }
    }
    return Math.max(0, sequence.nextTokenIndex - begin);
  }

  async #decode(
    request: GenerateRequest,
    sampling: FullSampling,
    prompt: Prompt,
    hooks: GenerateHooks,
  ): Promise<StopReason> {
    hooks.onDecode();
    const room = this.#sequence.contextSize - prompt.tokens.length - 1;
    const asked = sampling.maxTokens ?? Number.POSITIVE_INFINITY;
    const chat = new LlamaChat({
      contextSequence: this.#sequence,
      chatWrapper: aligningWrapper(this.#wrapper, this.#sequence),
    });
    try {
      const { metadata } = await chat.generateResponse(historyOf(prompt.turns), {
        temperature: sampling.temperature,
        topP: sampling.topP,
        topK: sampling.topK,
        minP: sampling.minP,
        seed: sampling.seed,
        repeatPenalty: sampling.repeatPenalty === 1 ? false : { penalty: sampling.repeatPenalty },
        maxTokens: Math.min(room, asked),
        customStopTriggers: request.stop,
        signal: hooks.signal,
        stopOnAbortSignal: true,
        onResponseChunk: (chunk) => {
          if (chunk.text === '') return;
          const kind = chunk.segmentType === 'thought' ? 'thought' : 'text';
          hooks.onPart({ kind, text: chunk.text }, chunk.tokens.length);
        },
      });
      switch (metadata.stopReason) {
        case 'abort':
          return 'stopped';
        case 'maxTokens':
          return asked <= room ? 'max_tokens' : 'context_full';
        case 'customStopTrigger':
          return 'stop_string';
        case 'eogToken':
        case 'stopGenerationTrigger':
        case 'functionCalls':
          return 'end';
      }
    } catch (error) {
      // LlamaChat throws the abort reason when nothing was written yet; the sequence is unharmed.
      if (hooks.signal.aborted) return 'stopped';
      throw error;
    } finally {
      chat.dispose({ disposeSequence: false });
    }
  }

  /** After a failed evaluation the sequence holds tokens of which llama.cpp knows nothing: start it anew. */
  async #renewSequence(): Promise<void> {
    await this.#sequence.dispose();
    this.#sequence = this.#context.getSequence();
  }
}

function kvTypes(type: 'q8_0' | 'q4_0') {
  const name = type === 'q8_0' ? 'Q8_0' : 'Q4_0';
  return { experimentalKvCacheKeyType: name, experimentalKvCacheValueType: name } as const;
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}
