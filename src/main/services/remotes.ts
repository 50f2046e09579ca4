import { Emitter } from '../base/index.ts';
import {
  fail,
  ok,
  readRemoteOption,
  remoteModelOption,
  remotePrefix,
  type AppError,
  type Remote,
  type RemoteInput,
  type Result,
} from '../contract/index.ts';
import type { AnswerPart, WholeAnswer } from '../engine/index.ts';
import { normalBaseUrl, type RemoteChat, type RemoteClient, type RemoteEndpoint } from '../remote/index.ts';
import type { JsonFile, SecretsFile } from '../store/index.ts';
import type { KnownModel, RemotesService } from './interfaces.ts';

/** What is kept of a remote engine; its key is kept apart. */
export type KeptRemote = Omit<Remote, 'hasKey'>;

const mostRemotes = 50;

export type RemotesDependencies = {
  readonly client: Pick<RemoteClient, 'models' | 'answer' | 'embed'>;
  readonly file: Pick<JsonFile<readonly KeptRemote[]>, 'value' | 'update'>;
  readonly secrets: Pick<SecretsFile, 'get' | 'set'>;
  /** Unix time in ms. */
  readonly now: () => number;
  readonly createId: () => string;
  /** Port of our own server on this computer: a remote that is ourselves would ask itself. null: nothing listens. */
  readonly ownPort: () => number | null;
};

export type RemoteTarget = { readonly remote: KeptRemote; readonly model: string };

/** OpenAI-compatible servers elsewhere that a person has added: the list of them, and the way to their models. */
export class Remotes implements RemotesService {
  readonly #deps: RemotesDependencies;
  readonly #events = new Emitter<readonly Remote[]>();
  /** Of the answers that are being given. */
  readonly #running = new Set<AbortController>();

  constructor(deps: RemotesDependencies) {
    this.#deps = deps;
  }

  on(listener: (remotes: readonly Remote[]) => void): () => void {
    return this.#events.on(listener);
  }

  list(): readonly Remote[] {
    return this.#deps.file.value.map((kept) => this.#shown(kept));
  }

  /** Their models as requests name them: `NAME/MODEL`. */
  knownModels(): readonly KnownModel[] {
    return this.#deps.file.value.flatMap(({ id, name, models }) =>
      models.map((model) => ({ id: `${name}/${model}`, path: remoteModelOption(id, model), loaded: false })),
    );
  }

  async add({ name, baseUrl, key }: RemoteInput): Promise<Result<Remote>> {
    if (this.#deps.file.value.length >= mostRemotes) {
      return fail('remote_invalid', `There are ${mostRemotes} remote engines already.`, 'Remove one first.');
    }
    const checked = this.#check(name, baseUrl, null);
    if (!checked.ok) return checked;
    const models = await this.#ask({ baseUrl: checked.data, key });
    if (!models.ok) return models;
    const id = this.#deps.createId();
    if (key !== null) {
      const saved = await this.#deps.secrets.set(secretName(id), key);
      if (!saved.ok) return saved;
    }
    return this.#save({ id, name, baseUrl: checked.data, models: [...models.data], testedAt: this.#deps.now() });
  }

  async change(id: string, changes: Partial<RemoteInput>): Promise<Result<Remote>> {
    const before = this.#find(id);
    if (before === undefined) return noRemote();
    const name = changes.name ?? before.name;
    const checked = this.#check(name, changes.baseUrl ?? before.baseUrl, id);
    if (!checked.ok) return checked;
    const baseUrl = checked.data;
    const moved = new URL(baseUrl).origin !== new URL(before.baseUrl).origin;
    if (moved && changes.key === undefined && this.#shown(before).hasKey) {
      // A key must not go to another server because an address was edited.
      return fail(
        'remote_invalid',
        'The address leads to another server.',
        'Enter the key for it as well, or take the key away.',
      );
    }
    if (baseUrl === before.baseUrl && changes.key === undefined) return this.#save({ ...before, name });
    const key = changes.key === undefined ? this.#key(id) : ok(changes.key);
    if (!key.ok) return key;
    const models = await this.#ask({ baseUrl, key: key.data });
    if (!models.ok) return models;
    if (changes.key !== undefined) {
      const saved = await this.#deps.secrets.set(secretName(id), changes.key);
      if (!saved.ok) return saved;
    }
    return this.#save({ id, name, baseUrl, models: [...models.data], testedAt: this.#deps.now() });
  }

  async test(id: string): Promise<Result<Remote>> {
    const kept = this.#find(id);
    if (kept === undefined) return noRemote();
    const key = this.#key(id);
    if (!key.ok) return key;
    const models = await this.#ask({ baseUrl: kept.baseUrl, key: key.data });
    return models.ok ? this.#save({ ...kept, models: [...models.data], testedAt: this.#deps.now() }) : models;
  }

  async remove(id: string): Promise<Result<void>> {
    const saved = await this.#deps.file.update((all) => all.filter((kept) => kept.id !== id));
    if (!saved.ok) return saved;
    const forgotten = await this.#deps.secrets.set(secretName(id), null);
    this.#events.emit(this.list());
    return forgotten;
  }

  /** What a conversation's `model` (`remote:ID/MODEL`) means; null: not a remote engine. */
  ofOption(option: string | null): Result<RemoteTarget> | null {
    if (option === null || !option.startsWith(remotePrefix)) return null;
    const named = readRemoteOption(option);
    const remote = named === null ? undefined : this.#find(named.id);
    return named === null || remote === undefined ? noRemote() : ok({ remote, model: named.model });
  }

  /** What a request's `model` (`NAME/MODEL`) means; null: not a remote engine. */
  ofRequest(model: string | null): RemoteTarget | null {
    const slash = model?.indexOf('/') ?? -1;
    if (model === null || slash <= 0) return null;
    const name = model.slice(0, slash).toLowerCase();
    const remote = this.#deps.file.value.find((kept) => kept.name.toLowerCase() === name);
    const rest = model.slice(slash + 1);
    return remote === undefined || rest === '' ? null : { remote, model: rest };
  }

  async answer(
    { remote, model }: RemoteTarget,
    chat: Omit<RemoteChat, 'model'>,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Result<WholeAnswer>> {
    const key = this.#key(remote.id);
    if (!key.ok) return key;
    const endpoint = { baseUrl: remote.baseUrl, key: key.data };
    const stopped = new AbortController();
    this.#running.add(stopped);
    const either = AbortSignal.any([signal, stopped.signal]);
    const answer = this.#deps.client.answer(endpoint, { ...chat, model }, onPart, either);
    return named(remote, await answer.finally(() => this.#running.delete(stopped)));
  }

  /** Ends every answer, whoever asked for it; what there is of them is kept. @returns how many there were. */
  stopAll(): number {
    for (const stopped of this.#running) stopped.abort();
    return this.#running.size;
  }

  async embed({ remote, model }: RemoteTarget, inputs: readonly (string | readonly number[])[], signal: AbortSignal) {
    const key = this.#key(remote.id);
    if (!key.ok) return key;
    return named(
      remote,
      await this.#deps.client.embed({ baseUrl: remote.baseUrl, key: key.data }, model, inputs, signal),
    );
  }

  #ask(endpoint: RemoteEndpoint): Promise<Result<readonly string[]>> {
    return this.#deps.client.models(endpoint, new AbortController().signal);
  }

  #check(name: string, address: string, ownId: string | null): Result<string> {
    const baseUrl = normalBaseUrl(address);
    if (!baseUrl.ok) return baseUrl;
    const taken = this.#deps.file.value.some(
      (kept) => kept.id !== ownId && kept.name.toLowerCase() === name.toLowerCase(),
    );
    if (taken)
      return fail('remote_invalid', `There is a remote engine called "${name}" already.`, 'Choose another name.');
    const { hostname, port, protocol } = new URL(baseUrl.data);
    const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
    if (isHere && Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port) === this.#deps.ownPort()) {
      return fail(
        'remote_invalid',
        'This is the address of this Dormouse itself.',
        'Enter the address of another server.',
      );
    }
    return baseUrl;
  }

  async #save(kept: KeptRemote): Promise<Result<Remote>> {
    const saved = await this.#deps.file.update((all) =>
      all.some(({ id }) => id === kept.id) ? all.map((each) => (each.id === kept.id ? kept : each)) : [...all, kept],
    );
    if (!saved.ok) return saved;
    this.#events.emit(this.list());
    return ok(this.#shown(kept));
  }

  #find(id: string): KeptRemote | undefined {
    return this.#deps.file.value.find((kept) => kept.id === id);
  }

  #shown(kept: KeptRemote): Remote {
    return { ...kept, models: [...kept.models], hasKey: this.#deps.secrets.get(secretName(kept.id)).kind !== 'none' };
  }

  #key(id: string): Result<string | null> {
    const secret = this.#deps.secrets.get(secretName(id));
    switch (secret.kind) {
      case 'none':
        return ok(null);
      case 'value':
        return ok(secret.value);
      case 'unreadable': {
        const message = 'The key of this remote engine was sealed by the desktop app and cannot be read here.';
        return fail('remote_unauthorized', message, 'Enter the key again on the Server page.');
      }
    }
  }
}

function secretName(id: string): string {
  return `remote:${id}`;
}

/** Which of the remote engines failed: a person may have several. */
function named<T>({ name }: KeptRemote, result: Result<T>): Result<T> {
  if (result.ok) return result;
  const error: AppError = { ...result.error, message: `${name}: ${result.error.message}` };
  return { ok: false, error };
}

function noRemote() {
  const hint = 'Choose another model in the chat settings, or add the engine again on the Server page.';
  return fail('remote_not_found', 'The remote engine of this chat is not there any more.', hint);
}
