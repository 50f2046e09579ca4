import { z } from 'zod';
import { idSchema } from './chat.ts';

/** A conversation's `model` that begins so names a remote engine: `remote:ID/MODEL`. */
export const remotePrefix = 'remote:';

/** Stands before the model's name in API requests (`NAME/MODEL`), so that it has no slash and no space. */
export const remoteNameSchema = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/, 'letters, digits, dots, dashes and underscores, at most 40');

const baseUrlSchema = z.string().trim().min(1).max(2000);
/** Header text; the same as our own key. */
const remoteKeySchema = z.string().regex(/^[\x21-\x7e]{1,4096}$/, 'a key is visible ASCII characters without spaces');

/** An OpenAI-compatible server elsewhere. Its key is never told. */
export const remoteSchema = z.object({
  id: idSchema,
  name: z.string(),
  /** Up to the part before `/chat/completions`, usually ending in `/v1`. */
  baseUrl: z.string(),
  hasKey: z.boolean(),
  /** Ids of its models, as it listed them last. */
  models: z.array(z.string()),
  /** Unix time in ms of that list. */
  testedAt: z.number(),
});
export type Remote = z.infer<typeof remoteSchema>;

/** What is kept of them; keys are kept apart. */
export const keptRemotesSchema = z.array(remoteSchema.omit({ hasKey: true }));

export const remoteInputSchema = z
  .object({ name: remoteNameSchema, baseUrl: baseUrlSchema, key: remoteKeySchema.nullable() })
  .strict();
export type RemoteInput = z.infer<typeof remoteInputSchema>;

/** What is absent stays; `key: null` takes the key away. */
export const remoteChangeSchema = remoteInputSchema.partial().extend({ id: idSchema }).strict();

/** The conversation option that means a remote's model. */
export function remoteModelOption(id: string, model: string): string {
  return `${remotePrefix}${id}/${model}`;
}

/** @returns null for what names no remote engine. */
export function readRemoteOption(option: string): { readonly id: string; readonly model: string } | null {
  const match = /^remote:([^/]+)\/(.+)$/s.exec(option);
  return match?.[1] === undefined || match[2] === undefined ? null : { id: match[1], model: match[2] };
}
