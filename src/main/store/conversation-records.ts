import { z } from 'zod';
import {
  conversationOptionsSchema,
  idSchema,
  messageSchema,
  streamPartSchema,
  type Conversation,
  type Message,
} from '../contract/index.ts';

/** Format of the logs. A log with a higher number is left alone. */
export const logVersion = 1;

const recordSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('conversation'),
    v: z.literal(logVersion),
    id: idSchema,
    title: z.string(),
    createdAt: z.number(),
    ...conversationOptionsSchema.shape,
  }),
  /** A new message, or the finished state of one that was streaming. */
  z.object({ type: z.literal('message'), message: messageSchema }),
  /** More text of a message that is streaming. */
  z.object({ type: z.literal('part'), id: idSchema, ...streamPartSchema.shape }),
  z.object({ type: z.literal('title'), title: z.string() }),
  z.object({ type: z.literal('leaf'), id: idSchema }),
  z.object({ type: z.literal('options'), ...conversationOptionsSchema.shape }),
]);

/** One line of a conversation's log. */
export type ConversationRecord = z.infer<typeof recordSchema>;

export function lineOf(record: ConversationRecord): string {
  return `${JSON.stringify(record)}\n`;
}

export type ParsedLog = {
  readonly records: readonly ConversationRecord[];
  /** Bytes up to the end of the last good line. What follows is a line that was being written. */
  readonly goodBytes: number;
  /** The last good line is whole but lacks its line break. */
  readonly endsOpen: boolean;
  /** Lines before the last good one that are no records. */
  readonly badLines: number;
  /** The version in the first line when it is higher than ours. */
  readonly newer: number | null;
};

/**
 * Reads a log line by line. Half a line, garbage or zero bytes after the last good line are a write that a crash or
 * a power cut interrupted; garbage before it is damage.
 */
export function parseLog(bytes: Buffer): ParsedLog {
  const records: ConversationRecord[] = [];
  let goodBytes = 0;
  let badLines = 0;
  let badSinceGood = 0;
  let newer: number | null = null;
  let endsOpen = false;
  for (let start = 0; start < bytes.length;) {
    const lineBreak = bytes.indexOf(10, start);
    const end = lineBreak === -1 ? bytes.length : lineBreak;
    const value = parseJson(bytes.toString('utf8', start, end));
    const parsed = recordSchema.safeParse(value);
    if (start === 0) newer = newerVersion(value);
    if (parsed.success) {
      records.push(parsed.data);
      badLines += badSinceGood;
      badSinceGood = 0;
      endsOpen = lineBreak === -1;
      goodBytes = endsOpen ? end : end + 1;
    } else badSinceGood++;
    start = end + 1;
  }
  return { records, goodBytes, endsOpen, badLines, newer };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function newerVersion(value: unknown): number | null {
  const version = z.looseObject({ type: z.literal('conversation'), v: z.number() }).safeParse(value);
  return version.success && version.data.v > logVersion ? version.data.v : null;
}

type Head = Pick<Conversation, 'title' | 'createdAt' | 'systemPrompt' | 'model'>;

/**
 * The conversation that a log tells. An answer without an end was cut off by the end of the process: it keeps what
 * had come and is `lost`. A repeated id changes the message that has it; a message without its parent becomes a root.
 * @param id from the file's name, which counts more than what the log says.
 */
export function foldRecords(id: string, records: readonly ConversationRecord[]): Conversation | null {
  const messages = new Map<string, Message>();
  let head = null as Head | null;
  let leafId: string | null = null;
  let title: string | null = null;
  for (const record of records) {
    switch (record.type) {
      case 'conversation':
        head ??= record;
        break;
      case 'message': {
        const isNew = !messages.has(record.message.id);
        messages.set(record.message.id, { ...record.message, conversationId: id });
        if (isNew) leafId = record.message.id;
        break;
      }
      case 'part': {
        const message = messages.get(record.id);
        if (message?.status === 'streaming') messages.set(record.id, withPart(message, record.kind, record.text));
        break;
      }
      case 'title':
        title = record.title;
        break;
      case 'leaf':
        if (messages.has(record.id)) leafId = record.id;
        break;
      case 'options':
        head = { title: '', createdAt: 0, ...head, systemPrompt: record.systemPrompt, model: record.model };
        break;
    }
  }
  const all = [...messages.values()].map((message) => settled(message, messages));
  const first = all[0];
  if (head === null && first === undefined) return null;
  return {
    id,
    title: title ?? (head?.title || (first?.text.slice(0, 60) ?? '')),
    createdAt: head?.createdAt || (first?.createdAt ?? 0),
    updatedAt: all.reduce((latest, message) => Math.max(latest, message.createdAt), head?.createdAt ?? 0),
    messages: all,
    leafId,
    systemPrompt: head?.systemPrompt ?? null,
    model: head?.model ?? null,
  };
}

function withPart(message: Message, kind: 'text' | 'thought', text: string): Message {
  return kind === 'text' ? { ...message, text: message.text + text } : { ...message, thought: message.thought + text };
}

function settled(message: Message, all: ReadonlyMap<string, Message>): Message {
  const orphan = message.parentId !== null && (!all.has(message.parentId) || message.parentId === message.id);
  const rooted = orphan ? { ...message, parentId: null } : message;
  return rooted.status === 'streaming' ? { ...rooted, status: 'lost', streamId: null } : rooted;
}

/** The shortest log that tells a conversation. */
export function recordsOf(conversation: Conversation): ConversationRecord[] {
  const { id, title, createdAt, systemPrompt, model, messages, leafId } = conversation;
  return [
    { type: 'conversation', v: logVersion, id, title, createdAt, systemPrompt, model },
    ...messages.map((message): ConversationRecord => ({ type: 'message', message })),
    ...(leafId === null ? [] : [{ type: 'leaf', id: leafId } as const]),
  ];
}
