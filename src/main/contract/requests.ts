import { z } from 'zod';
import {
  conversationOptionsSchema,
  conversationSchema,
  conversationSummarySchema,
  idSchema,
  maxPromptLength,
  messageSchema,
  streamSnapshotSchema,
} from './chat.ts';
import { engineStatusSchema, modelInfoSchema } from './engine.ts';
import { remoteChangeSchema, remoteInputSchema, remoteSchema } from './remotes.ts';
import { apiKeySchema, exchangeHistorySchema, listenHostSchema, serverStatusSchema } from './server.ts';
import { settingsSchema } from './settings.ts';
import { telemetryHistorySchema } from './telemetry.ts';

const nothing = z.object({}).strict();

/** Settings that main remembers by itself. */
const keptByMain = {
  lastModel: true,
  trayNoticeShown: true,
  window: true,
  serverOn: true,
  serverHost: true,
  serverPort: true,
} as const;

export const appInfoSchema = z.object({
  version: z.string(),
  /** `desktop` is the Electron window, `browser` a tab over HTTP. */
  shell: z.enum(['desktop', 'browser']),
  /** Path of the current log file. */
  logFile: z.string(),
  dataFolder: z.string(),
  /** Address of the server, for people's tools. */
  serverUrl: z.string(),
  /** What happened while starting that a person should know; most urgent first. */
  notices: z.array(z.string()),
});
export type AppInfo = z.infer<typeof appInfoSchema>;

const started = z.object({ conversationId: idSchema, streamId: idSchema, answerId: idSchema });

/** Every request a page can make: name -> what goes in and what comes out. Handlers are one exhaustive map over it. */
export const requests = {
  'app.info': { input: nothing, output: appInfoSchema },
  'engine.status': { input: nothing, output: engineStatusSchema },
  /** `builtin` or a path. Answers when the model is ready; the previous model stays if this one cannot be loaded. */
  'engine.load': { input: z.object({ model: z.string().min(1).max(4096) }).strict(), output: modelInfoSchema },
  'engine.cancelLoad': { input: nothing, output: z.object({ cancelled: z.boolean() }) },
  'engine.unload': { input: nothing, output: z.object({}) },
  /**
   * Asks for samples as `telemetry.sample` events, and for those there are. Holds for `leaseMs`: whoever goes on looking
   * asks again before that, so that a page which is gone or hidden costs nothing.
   */
  'telemetry.watch': { input: nothing, output: telemetryHistorySchema },
  /** Ends this lease early. */
  'telemetry.unwatch': { input: nothing, output: z.object({}) },
  /** Lets the pool's workers spin without end for 5 s, to show what that costs; then as before. */
  'telemetry.spinDemo': { input: nothing, output: z.object({ endsAt: z.number() }) },
  'models.list': {
    input: nothing,
    output: z.object({
      models: z.array(z.object({ id: z.string(), path: z.string(), loaded: z.boolean(), remote: z.boolean() })),
    }),
  },
  'server.status': { input: nothing, output: serverStatusSchema },
  /** Programs are answered from now on, and after the next start. */
  'server.start': { input: nothing, output: serverStatusSchema },
  /** Programs are no longer answered; what runs is ended. A page that came through the server stays. */
  'server.stop': { input: nothing, output: serverStatusSchema },
  /** Moves the server. When it cannot have the new address, the old one stays and the error says why. */
  'server.configure': {
    input: z
      .object({ host: listenHostSchema.optional(), port: z.number().int().min(0).max(65535).optional() })
      .strict(),
    output: serverStatusSchema,
  },
  /** The API key itself, for the person at the screen; null: none is needed. */
  'server.key': { input: nothing, output: z.object({ key: z.string().nullable() }) },
  /** null takes it away, which is refused while others than this computer can reach the server. */
  'server.setKey': { input: z.object({ key: apiKeySchema.nullable() }).strict(), output: serverStatusSchema },
  /** A fresh key from random bytes takes the place of the old one. */
  'server.generateKey': { input: nothing, output: z.object({ key: z.string() }) },
  /** Exchanges so far, and new ones as events for the time of a lease. */
  'server.watchLog': { input: nothing, output: exchangeHistorySchema },
  'server.unwatchLog': { input: nothing, output: z.object({}) },
  'server.clearLog': { input: nothing, output: z.object({}) },
  'remotes.list': { input: nothing, output: z.object({ remotes: z.array(remoteSchema) }) },
  /** Asks it for its models first: what does not answer is not added. */
  'remotes.add': { input: remoteInputSchema, output: remoteSchema },
  /** What is given changes, after a test as above where the address or key is among it. */
  'remotes.change': { input: remoteChangeSchema, output: remoteSchema },
  /** Asks it for its models anew. */
  'remotes.test': { input: z.object({ id: idSchema }).strict(), output: remoteSchema },
  'remotes.remove': { input: z.object({ id: idSchema }).strict(), output: z.object({}) },
  'settings.get': { input: nothing, output: settingsSchema },
  /** Changes what is given, keeps the rest. What main remembers by itself cannot be set. */
  'settings.set': { input: settingsSchema.omit(keptByMain).partial().strict(), output: settingsSchema },
  'conversation.list': { input: nothing, output: z.object({ conversations: z.array(conversationSummarySchema) }) },
  'conversation.get': { input: z.object({ conversationId: idSchema }).strict(), output: conversationSchema },
  /** Makes `messageId`'s branch the one on screen. */
  'conversation.select': {
    input: z.object({ conversationId: idSchema, messageId: idSchema }).strict(),
    output: z.object({ leafId: idSchema }),
  },
  'conversation.rename': {
    input: z.object({ conversationId: idSchema, title: z.string().trim().min(1).max(200) }).strict(),
    output: conversationSummarySchema,
  },
  /** Goes to the trash; an answer that is being written is stopped. `conversation.restore` brings it back. */
  'conversation.delete': { input: z.object({ conversationId: idSchema }).strict(), output: z.object({}) },
  'conversation.restore': {
    input: z.object({ conversationId: idSchema }).strict(),
    output: conversationSummarySchema,
  },
  /** Changes what is given, keeps the rest. */
  'conversation.configure': {
    input: conversationOptionsSchema.partial().extend({ conversationId: idSchema }).strict(),
    output: conversationOptionsSchema,
  },
  /** Saves the user's message, then starts the answer. No `conversationId` begins a new conversation. */
  'chat.send': {
    input: z
      .object({
        conversationId: idSchema.optional(),
        /** The answer this message follows; null begins anew (an edited first message); absent: the one on screen. */
        parentId: idSchema.nullable().optional(),
        text: z.string().max(maxPromptLength),
        /** For a new conversation only. */
        options: conversationOptionsSchema.partial().strict().optional(),
      })
      .strict(),
    output: started.extend({ userMessage: messageSchema }),
  },
  /** Answers once more; the earlier answer stays as a branch. `messageId` is the answer or its user message. */
  'chat.regenerate': {
    input: z.object({ conversationId: idSchema, messageId: idSchema }).strict(),
    output: started,
  },
  /** Ends a stream and keeps what there is. `stopped: false` when it had already ended. */
  'chat.stop': { input: z.object({ streamId: idSchema }).strict(), output: z.object({ stopped: z.boolean() }) },
  'stream.attach': { input: z.object({ streamId: idSchema }).strict(), output: streamSnapshotSchema },
} as const satisfies Record<string, { readonly input: z.ZodType; readonly output: z.ZodType }>;

export type RequestName = keyof typeof requests;
/** What a caller passes in. */
export type RequestInput<N extends RequestName> = z.input<(typeof requests)[N]['input']>;
/** What a handler receives after parsing. */
export type RequestParsed<N extends RequestName> = z.output<(typeof requests)[N]['input']>;
export type RequestOutput<N extends RequestName> = z.output<(typeof requests)[N]['output']>;

export function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(requests, name);
}
