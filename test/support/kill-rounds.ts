import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { AppProcess } from './app-process.ts';
import { ContractClient } from './contract-client.ts';
import { unwrap } from './engine.ts';
import { slowModelPath } from './gguf.ts';
import { mulberry32 } from './mulberry32.ts';

/** What the app had promised by the time it was killed. */
type Promised = {
  /** Text of every user message whose send was answered, by conversation. */
  readonly sent: Map<string, string[]>;
  readonly deleted: Set<string>;
  /** What a page had seen of the answers that were being written: stream by stream. */
  readonly seen: Map<string, Seen>;
};

type Seen = { readonly conversationId: string; readonly answerId: string; text: string };

export type KillReport = { readonly rounds: number; readonly sends: number; readonly answersCut: number };

/**
 * Starts the app, sends, edits, regenerates and deletes, kills it with SIGKILL at a random moment, starts it again and
 * compares. @throws when an acknowledged message is missing, a cut answer has other text than was seen, a deleted chat
 * is back, or a log was set aside.
 * @param seed of the random moments and actions; the report of a failure names it.
 */
export async function killRounds(rounds: number, seed: number): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-kill-'));
  const random = mulberry32(seed);
  const promised: Promised = { sent: new Map(), deleted: new Set(), seen: new Map() };
  let answersCut = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const app = await AppProcess.start({
        args: ['--temperature', '1', '--model', slowModelPath()],
        dataFolder: folder,
      });
      const client = await ContractClient.connect(app);
      answersCut = await compare(client, promised, folder, `seed ${seed}, round ${round}`);
      const acting = act(client, promised, random, round).catch(() => undefined);
      await wait(200 + random() * 1200);
      await app.kill();
      await acting;
    }
    const app = await AppProcess.start({ dataFolder: folder });
    answersCut = await compare(await ContractClient.connect(app), promised, folder, `seed ${seed}, end`);
    await app.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { rounds, sends: [...promised.sent.values()].flat().length, answersCut };
}

/** Does one thing after the other until the connection breaks. */
async function act(
  client: ContractClient,
  { sent, deleted, seen }: Promised,
  random: () => number,
  round: number,
): Promise<void> {
  for (let step = 0; ; step++) {
    const known = [...sent.keys()].filter((id) => !deleted.has(id));
    const conversationId = known[Math.floor(random() * known.length)];
    const dice = random();
    for (const [streamId, each] of seen) {
      const snapshot = await client.request('stream.attach', { streamId });
      if (snapshot.ok && !snapshot.data.ended) each.text = snapshot.data.text;
    }
    if (conversationId !== undefined && dice < 0.08) {
      if ((await client.request('conversation.delete', { conversationId })).ok) deleted.add(conversationId);
      continue;
    }
    if (conversationId !== undefined && dice < 0.2) {
      const { messages } = unwrap(await client.request('conversation.get', { conversationId }));
      const messageId = messages.findLast(({ role }) => role === 'assistant')?.id;
      if (messageId !== undefined) await client.request('chat.regenerate', { conversationId, messageId });
      continue;
    }
    const text = `Tell me a story about number ${round} and ${step}`;
    const place =
      conversationId === undefined || dice < 0.5
        ? {}
        : dice < 0.6
          ? { conversationId, parentId: null }
          : { conversationId };
    const reply = await client.request('chat.send', { text, ...place });
    if (!reply.ok) continue;
    const { streamId, answerId } = reply.data;
    sent.set(reply.data.conversationId, [...(sent.get(reply.data.conversationId) ?? []), text]);
    seen.set(streamId, { conversationId: reply.data.conversationId, answerId, text: '' });
    // The model writes on for minutes: most answers are stopped, so that the next one gets its turn.
    if (random() < 0.6) await client.request('chat.stop', { streamId });
  }
}

/** @returns how many answers say that they were cut. */
async function compare(
  client: ContractClient,
  { sent, deleted, seen }: Promised,
  folder: string,
  where: string,
): Promise<number> {
  const broken = readdirSync(join(folder, 'conversations')).filter((name) => name.includes('.broken'));
  if (broken.length > 0) throw new Error(`${where}: ${broken.join(', ')} could not be read`);
  const { conversations } = unwrap(await client.request('conversation.list', {}));
  const listed = new Set(conversations.map(({ id }) => id));
  let cut = 0;
  for (const [conversationId, texts] of sent) {
    if (deleted.has(conversationId)) {
      if (listed.has(conversationId)) throw new Error(`${where}: deleted chat ${conversationId} is back`);
      continue;
    }
    // A delete that was on its way when the process died may have happened or not; undo must then bring it back.
    if (!listed.has(conversationId)) unwrap(await client.request('conversation.restore', { conversationId }));
    const { messages } = unwrap(await client.request('conversation.get', { conversationId }));
    const kept = new Set(messages.map(({ text }) => text));
    const missing = texts.filter((text) => !kept.has(text));
    if (missing.length > 0) throw new Error(`${where}: ${conversationId} lost ${JSON.stringify(missing)}`);
    if (messages.some(({ status }) => status === 'streaming'))
      throw new Error(`${where}: an answer of a dead process is streaming`);
    cut += messages.filter(({ status }) => status === 'lost').length;
    for (const each of seen.values()) {
      const kept = messages.find(({ id }) => id === each.answerId)?.text;
      // The last parts may be lost with the process; what is there must be the same text, nothing doubled or left out.
      if (kept === undefined || each.text.startsWith(kept) || kept.startsWith(each.text)) continue;
      throw new Error(`${where}: an answer was ${JSON.stringify(each.text)} and is ${JSON.stringify(kept)}`);
    }
  }
  return cut;
}
