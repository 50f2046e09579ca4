import {
  InsufficientMemoryError,
  type ChatWrapper,
  type Llama,
  type LlamaContext,
  type LlamaContextSequence,
  type LlamaModel,
} from 'node-llama-cpp';
import { fail, ok, type ModelInfo, type Result, type Sampling } from '../contract/index.ts';
import { answerWay, type AnswerWay } from './answer-way.ts';
import { autoContext, type LoadPlan, type MeasuredMemory } from './engine-placement.ts';
import type {
  AnswerEnd,
  AnswerPart,
  CountRequest,
  EmbedOutcome,
  EmbedRequest,
  GenerateOutcome,
  GenerateRequest,
  LoadRequest,
} from './engine.ts';
import { nothingGenerated } from './engine.ts';
import { answer } from './llama-answer.ts';
import type { ChatFormats } from './llama-chat-format.ts';
import { embed } from './llama-embedding.ts';
import type { GgufFacts } from './llama-gguf.ts';
import { LlamaGrammars } from './llama-grammars.ts';
import { alignPrompt } from './llama-prompt.ts';
import { PromptFitter, type FittedPrompt } from './llama-prompt-fit.ts';
import { tokenBias } from './llama-sampling.ts';
import { LlamaSequences } from './llama-sequences.ts';
import { modelId } from './model-id.ts';
import { builtinSampling, fullSampling, type FullSampling } from './sampling.ts';
import { autoThreads, threadFacts } from './threads.ts';

export type GenerateHooks = {
  readonly signal: AbortSignal;
  /** How long the generation had waited in the queue. */
  readonly queuedMs: number;
  readonly onPrefill: (done: number, total: number) => void;
  readonly onDecode: () => void;
  /** @param tokens how many tokens the part was made of. */
  readonly onPart: (part: AnswerPart, tokens: number) => void;
};

/** One generation as it is carried out. */
type Run = {
  readonly request: GenerateRequest;
  readonly way: AnswerWay;
  readonly sampling: FullSampling;
  readonly prompt: FittedPrompt;
  readonly sequence: LlamaContextSequence;
  readonly hooks: GenerateHooks;
};

/** One loaded model with its context. As many generations at a time as it has sequences. */
export class LlamaRuntime {
  readonly info: ModelInfo;
  readonly request: LoadRequest;
  readonly sequences: LlamaSequences;
  /** Of llama.cpp. */
  readonly release: string;
  readonly #model: LlamaModel;
  readonly #context: LlamaContext;
  readonly #wrapper: ChatWrapper;
  readonly #card: Sampling;
  readonly #grammars: LlamaGrammars;
  readonly #fitter: PromptFitter;

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
    this.#grammars = new LlamaGrammars(model.llama);
    this.sequences = new LlamaSequences(context);
    this.release = model.llama.llamaCppRelease.release;
    this.#fitter = new PromptFitter(model, wrapper, context.contextSize);
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
      contextSize: context.contextSize,
      sequences: context.totalSequences,
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
      const kvType = request.kvType === 'f16' ? {} : kvTypes(request.kvType);
      const context = await model.createContext({
        contextSize:
          request.contextSize === 'auto' && !planned
            ? { max: autoContext(facts.contextTrained) }
            : Math.floor(plan.placement.contextSize / request.sequences),
        ignoreMemorySafetyChecks: planned,
        ...(planned ? { failedCreationRemedy: false } : {}),
        batchSize: request.batchSize,
        sequences: request.sequences,
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

  /** Tokens in the KV cache of the fullest sequence. */
  get contextUsed(): number {
    return this.sequences.used;
  }

  async dispose(): Promise<void> {
    await this.#context.dispose();
    await this.#model.dispose();
  }

  countTokens({ prompt, tools }: CountRequest): Result<number> {
    const way = answerWay({ prompt, tools, output: { kind: 'text' } });
    return way.ok ? ok(this.#fitter.render(prompt, way.data).length) : way;
  }

  embed(request: EmbedRequest, signal: AbortSignal): Promise<Result<EmbedOutcome>> {
    return embed(this.#model, this.#context, request.inputs, signal);
  }

  /**
   * Evaluates the prompt batch by batch, then decodes until a stop. Its sequence can be used again after every outcome.
   * At most as many calls at a time as there are sequences.
   */
  async generate(request: GenerateRequest, hooks: GenerateHooks): Promise<Result<GenerateOutcome>> {
    const way = answerWay(request);
    if (!way.ok) return way;
    const sampling = fullSampling(request.sampling, this.#card, randomSeed);
    const prompt = this.#fitter.fit(request, way.data, sampling.maxTokens);
    if (!prompt.ok) return prompt;
    const sequence = this.sequences.take(prompt.data.tokens);
    let broken = false;
    try {
      return await this.#run({ request, way: way.data, sampling, prompt: prompt.data, sequence, hooks });
    } catch (error) {
      broken = true;
      if (hooks.signal.aborted) return ok(nothingGenerated(hooks.queuedMs));
      return couldNotGoOn(error);
    } finally {
      await this.sequences.giveBack(sequence, broken);
    }
  }

  async #run(run: Run): Promise<Result<GenerateOutcome>> {
    const { prompt, sequence, hooks } = run;
    const started = performance.now();
    const evaluated = await this.#prefill(run);
    const prefilled = performance.now();
    const meter = sequence.tokenMeter.getState();
    let first: number | null = null;
    let end: Result<AnswerEnd> = ok('stopped');
    if (!hooks.signal.aborted) {
      end = await this.#decode(run, (part, tokens) => {
        first ??= performance.now();
        hooks.onPart(part, tokens);
      });
    }
    if (!end.ok) return end;
    const ended = performance.now();
    const used = sequence.tokenMeter.diff(meter);
    const predictedTokens = used.usedOutputTokens;
    const predictedMs = predictedTokens === 0 ? 0 : ended - prefilled;
    return ok({
      stopReason: end.data,
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
    });
  }

  /**
   * Feeds everything but the last token, one batch per call: a longer call could be neither stopped nor, if it failed,
   * repaired. @returns tokens evaluated.
   */
  async #prefill({ prompt, sequence, hooks }: Run): Promise<number> {
    const fed = alignPrompt(sequence, prompt.tokens).slice(0, -1);
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

  async #decode(run: Run, onPart: GenerateHooks['onPart']): Promise<Result<AnswerEnd>> {
    const { request, way, sampling, prompt, sequence, hooks } = run;
    hooks.onDecode();
    const lastToken = prompt.tokens.at(-1);
    if (lastToken === undefined) throw new Error('a prompt without tokens');
    return answer(way, {
      ...{ model: this.#model, wrapper: this.#wrapper, grammars: this.#grammars },
      ...{ sequence, sampling, lastToken, turns: prompt.turns, stop: request.stop },
      bias: tokenBias(this.#model, request.logitBias),
      room: sequence.contextSize - prompt.tokens.length - 1,
      signal: hooks.signal,
      onPart,
    });
  }
}

function couldNotGoOn(error: unknown) {
  const memory = error instanceof InsufficientMemoryError;
  return fail(
    memory ? 'out_of_memory' : 'generation_failed',
    `The model could not go on: ${error instanceof Error ? error.message : String(error)}`,
    memory ? 'Choose a smaller context or a smaller model.' : 'Try again. If it happens again, load the model anew.',
  );
}

function kvTypes(type: 'q8_0' | 'q4_0') {
  const name = type === 'q8_0' ? 'Q8_0' : 'Q4_0';
  return { experimentalKvCacheKeyType: name, experimentalKvCacheValueType: name } as const;
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}
