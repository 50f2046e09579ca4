import {
  requestPath,
  sessionHeader,
  sessionPath,
  type RequestInput,
  type RequestName,
  type RequestOutput,
  type Result,
} from '../../src/main/contract/index.ts';
import type { AppProcess } from './app-process.ts';
import { unwrap } from './engine.ts';

/** What a page does, without a page: trades a link for a secret and makes requests of the contract. */
export class ContractClient {
  readonly #origin: string;
  readonly #secret: string;

  private constructor(origin: string, secret: string) {
    this.#origin = origin;
    this.#secret = secret;
  }

  static async connect(app: AppProcess): Promise<ContractClient> {
    const link = new URL(await app.newLink());
    const ticket = link.hash.slice('#t='.length);
    const reply = await fetch(new URL(sessionPath, link.origin), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ticket }),
    });
    return new ContractClient(link.origin, unwrap((await reply.json()) as Result<{ secret: string }>).secret);
  }

  /** Rejects when the connection breaks. */
  async request<N extends RequestName>(name: N, input: RequestInput<N>): Promise<Result<RequestOutput<N>>> {
    const reply = await fetch(new URL(`${requestPath}/${name}`, this.#origin), {
      method: 'POST',
      headers: { 'content-type': 'application/json', [sessionHeader]: this.#secret },
      body: JSON.stringify(input),
    });
    return (await reply.json()) as Result<RequestOutput<N>>;
  }
}
