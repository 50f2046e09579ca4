/** What the page below gets instead of main: one chat, and answers of as many words as a test wants. */
export interface FakeMain {
  words: string[];
  wordsPerEvent: number;
  finished: number;
  renders: Record<string, number>;
  longTasks: number[];
  /** By name; a test may put its own in. */
  replies: Record<string, (input: never) => unknown>;
  emit: (event: unknown) => void;
}

declare global {
  interface Window {
    fakeMain: FakeMain;
  }
}

/** Runs in the page, before it: so it can use nothing from outside. */
export function injectMain(texts: readonly string[]): void {
  const listeners = new Set<(event: unknown) => void>();
  const emit = (event: unknown) => listeners.forEach((listener) => listener(event));
  const fake: FakeMain = {
    ...{ words: [], wordsPerEvent: 1, finished: 0, renders: {}, longTasks: [], replies: {} },
    emit,
  };
  window.fakeMain = fake;
  const message = (id: string, parentId: string | null, values: object) => ({
    ...{ id, parentId, conversationId: 'c1', role: 'assistant', text: '', thought: '', createdAt: 1, status: 'done' },
    ...{ streamId: null, error: null, stopReason: null, timings: null, modelName: null },
    ...values,
  });
  const messages = texts.map((text, at) =>
    message(`m${at}`, at === 0 ? null : `m${at - 1}`, { text, role: at % 2 === 0 ? 'user' : 'assistant' }),
  );
  const options = { systemPrompt: null, model: null };
  const summary = { id: 'c1', title: 'Long one', createdAt: 1, updatedAt: 1 };
  const model = { name: 'Fake', path: 'fake.gguf', builtin: false, quantization: null };
  const stream = (streamId: string, answer: ReturnType<typeof message>) => {
    const { words, wordsPerEvent } = fake;
    let seq = 0;
    const next = () => {
      const text = words.slice(seq * wordsPerEvent, (seq + 1) * wordsPerEvent).join('');
      seq += 1;
      if (text !== '') {
        emit({ type: 'stream.chunk', streamId, seq, parts: [{ kind: 'text', text }] });
        setTimeout(next, 4);
        return;
      }
      fake.finished += 1;
      // Main keeps the text, not this page: it must not count as the page's memory.
      emit({ type: 'stream.end', streamId, seq, message: { ...answer, status: 'done', text: words.join('') } });
    };
    setTimeout(next, 50);
  };
  let sends = 0;
  const send = (input: { text: string; conversationId?: string }) => {
    sends += 1;
    const conversationId = input.conversationId ?? `n${sends}`;
    const values = { conversationId, role: 'user', text: input.text };
    const userMessage = message(`q${sends}`, input.conversationId === undefined ? null : messages.at(-1)!.id, values);
    const streamId = `s${sends}`;
    const answer = message(`a${sends}`, userMessage.id, { conversationId, status: 'streaming', streamId });
    stream(streamId, answer);
    return { conversationId, streamId, answerId: answer.id, userMessage };
  };
  const get = ({ conversationId: id }: { conversationId: string }) => {
    if (id === 'c1') return { ...summary, ...options, messages, leafId: messages.at(-1)?.id ?? null };
    const number = id.slice(1);
    const values = { conversationId: id, status: 'streaming', streamId: `s${number}` };
    const both = [
      message(`q${number}`, null, { conversationId: id, role: 'user', text: 'go' }),
      message(`a${number}`, `q${number}`, values),
    ];
    return { ...summary, ...options, id, messages: both, leafId: `a${number}` };
  };
  const replies: Record<string, (input: never) => unknown> = {
    'app.info': () => ({ notices: [] }),
    'engine.status': () => ({
      state: 'ready',
      since: 0,
      model,
      error: null,
      waiting: 0,
      loadProgress: null,
      pool: null,
      sleep: null,
      gpu: null,
      placement: null,
    }),
    'settings.get': () => ({ theme: 'system', sidebarOpen: true, lastModel: null }),
    'conversation.list': () => ({ conversations: [summary] }),
    'telemetry.watch': () => ({
      samples: [],
      marks: [],
      ladder: { step: 'asleep', since: 0, wokeInMs: null, idleUnloadMinutes: null },
      gpuReason: null,
      leaseMs: 30_000,
    }),
    'server.status': () => null,
    'remotes.list': () => ({ remotes: [] }),
    'conversation.get': get,
    'chat.send': send,
    'stream.attach': ({ streamId }: { streamId: string }) => ({
      streamId,
      seq: 0,
      text: '',
      thought: '',
      ended: false,
    }),
  };
  Object.assign(fake.replies, replies);
  const dormouse = {
    request: (name: string, input: unknown) =>
      Promise.resolve({ ok: true, data: fake.replies[name]?.(input as never) }),
    on: (listener: (event: unknown) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  Object.defineProperty(window, 'dormouse', { value: dormouse });
  new PerformanceObserver((list) => fake.longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
    type: 'longtask',
  });

  // React tells its developer tools about every commit, in production builds too.
  interface Fiber {
    readonly tag: number;
    readonly flags: number;
    readonly child: Fiber | null;
    readonly sibling: Fiber | null;
    readonly return: Fiber | null;
    readonly alternate: Fiber | null;
    readonly stateNode: unknown;
  }
  const componentTags = [0, 11, 14, 15];
  const placeOf = (fiber: Fiber | null): string => {
    if (fiber === null) return 'outside';
    if (!(fiber.stateNode instanceof Element)) return placeOf(fiber.return);
    return fiber.stateNode.closest('.message-scroller [data-index]')?.getAttribute('data-index') ?? 'outside';
  };
  const walk = (fiber: Fiber): void => {
    if (componentTags.includes(fiber.tag) && (fiber.flags & 1) !== 0) {
      const place = placeOf(fiber);
      fake.renders[place] = (fake.renders[place] ?? 0) + 1;
    }
    if (fiber.child === fiber.alternate?.child) return;
    for (let child = fiber.child; child !== null; child = child.sibling) walk(child);
  };
  Object.defineProperty(window, '__REACT_DEVTOOLS_GLOBAL_HOOK__', {
    value: {
      supportsFiber: true,
      inject: () => 1,
      onCommitFiberUnmount: () => undefined,
      onCommitFiberRoot: (_id: number, root: { current: Fiber }) => walk(root.current),
    },
  });
}
