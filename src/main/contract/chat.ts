import { z } from 'zod';
import { stopReasonSchema, timingsSchema } from './engine.ts';
import { appErrorSchema } from './errors.ts';

export const idSchema = z.string().min(1).max(64);

/** Longest text a person can send, in UTF-16 units. Longer than any context, short enough to keep the app alive. */
export const maxPromptLength = 4 * 1024 * 1024;

/** `lost`: the process ended while the answer was streaming. */
export const messageStatusSchema = z.enum(['streaming', 'done', 'stopped', 'failed', 'lost']);

export const messageSchema = z.object({
  id: idSchema,
  conversationId: idSchema,
  /** The message this one answers; null for the first. Siblings under one parent are branches. */
  parentId: idSchema.nullable(),
  role: z.enum(['user', 'assistant']),
  text: z.string(),
  /** Thinking of the model, apart from its answer. Empty when there was none. */
  thought: z.string(),
  /** Unix time in ms. */
  createdAt: z.number(),
  status: messageStatusSchema,
  /** Set while `status` is `streaming`: what to attach to. */
  streamId: idSchema.nullable(),
  error: appErrorSchema.nullable(),
  stopReason: stopReasonSchema.nullable(),
  timings: timingsSchema.nullable(),
  modelName: z.string().nullable(),
});
export type Message = z.infer<typeof messageSchema>;

export const conversationSummarySchema = z.object({
  id: idSchema,
  title: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type ConversationSummary = z.infer<typeof conversationSummarySchema>;

/** Longest system prompt, in UTF-16 units. */
export const maxSystemPromptLength = 100_000;

const conversationOptionsShape = {
  /** Comes before every chat turn; null: none. */
  systemPrompt: z.string().max(maxSystemPromptLength).nullable(),
  /** `builtin` or a path, loaded before this conversation is answered; null: whatever is loaded. */
  model: z.string().min(1).max(4096).nullable(),
};

/** What a person sets for one conversation. */
export const conversationOptionsSchema = z.object(conversationOptionsShape);
export type ConversationOptions = z.infer<typeof conversationOptionsSchema>;

export const conversationSchema = conversationSummarySchema.extend({
  /** All branches, oldest first. */
  messages: z.array(messageSchema),
  /** Last message of the branch on screen; null while empty. */
  leafId: idSchema.nullable(),
  ...conversationOptionsShape,
});
export type Conversation = z.infer<typeof conversationSchema>;

/** Part of a streamed answer. */
export const streamPartSchema = z.object({ kind: z.enum(['text', 'thought']), text: z.string() });
export type StreamPart = z.infer<typeof streamPartSchema>;

/** State of a stream after event `seq`; later events continue without a gap. */
export const streamSnapshotSchema = z.object({
  streamId: idSchema,
  seq: z.number().int().nonnegative(),
  text: z.string(),
  thought: z.string(),
  ended: z.boolean(),
});
export type StreamSnapshot = z.infer<typeof streamSnapshotSchema>;
