import { z } from 'zod';
import { appErrorSchema } from './errors.ts';

/** Where the server's page and programs find it from. */
export const serverAddressSchema = z.object({
  /** Scheme, host and port, without a path. */
  url: z.string(),
  /** From where it works: this computer, others in the network, or Windows around WSL. */
  from: z.enum(['this', 'network', 'windows']),
});
export type ServerAddress = z.infer<typeof serverAddressSchema>;

/** `unreadable`: one is kept, but it was sealed by the desktop app and cannot be opened here; nothing is let in. */
export const apiKeyStateSchema = z.enum(['none', 'kept', 'command_line', 'unreadable']);

export const serverStatusSchema = z.object({
  /** Whether programs are answered. In the browser shell the page stays reachable while this is false. */
  on: z.boolean(),
  /** Whether switching off leaves the page where it is: the page came through the server itself. */
  pageOverServer: z.boolean(),
  /** What it listens on, or would. */
  host: z.string(),
  /** The port it has; while off the one it would ask for (0: any). */
  port: z.number().int(),
  /** Under which addresses it answers now, nearest first; empty while nothing listens. */
  addresses: z.array(serverAddressSchema),
  /** What the command line has set: it counts again at the next start. */
  commandLine: z.object({ host: z.boolean(), port: z.boolean(), on: z.boolean() }),
  apiKey: apiKeyStateSchema,
  /** How keys are kept: sealed by the system's key store, or in a file that only this user may read. */
  keyStore: z.enum(['system', 'file']),
  corsOrigins: z.array(z.string()),
  allowedHosts: z.array(z.string()),
  /** Whether Dormouse runs inside WSL, or was started over SSH: what "this computer" means then. */
  place: z.enum(['local', 'wsl', 'ssh']),
  /** Why it does not listen, or the last change could not be made. */
  error: appErrorSchema.nullable(),
});
export type ServerStatus = z.infer<typeof serverStatusSchema>;

/** One exchange with a program, without any text or key. */
export const exchangeEntrySchema = z.object({
  id: z.number().int(),
  /** Unix time in ms. */
  startedAt: z.number(),
  method: z.string(),
  /** The route's pattern, never the path itself. */
  route: z.string(),
  /** null where no model was asked. */
  model: z.string().nullable(),
  client: z.enum(['this', 'network', 'internet']),
  /** null while it runs, and where the client left before there was one. */
  status: z.number().int().nullable(),
  running: z.boolean(),
  /** The client went away, or the server closed, before the reply was complete. */
  aborted: z.boolean(),
  promptTokens: z.number().int().nullable(),
  answerTokens: z.number().int().nullable(),
  /** Waiting for its turn, reading the prompt and writing the answer, in ms. */
  queuedMs: z.number().nullable(),
  prefillMs: z.number().nullable(),
  decodeMs: z.number().nullable(),
  /** From the head of the request to the end of the reply, in ms; null while it runs. */
  totalMs: z.number().nullable(),
});
export type ExchangeEntry = z.infer<typeof exchangeEntrySchema>;

export const exchangeHistorySchema = z.object({
  /** Oldest first. */
  entries: z.array(exchangeEntrySchema),
  /** After this time without another `server.watchLog` no more events come, in ms. */
  leaseMs: z.number(),
});
export type ExchangeHistory = z.infer<typeof exchangeHistorySchema>;

/** Header text without spaces, so that every client can send it. */
export const apiKeySchema = z.string().regex(/^[\x21-\x7e]{1,512}$/, 'a key is 1 to 512 visible ASCII characters');

/** A host name or an address, not a URL. */
export const listenHostSchema = z
  .string()
  .trim()
  .min(1)
  .max(253)
  .regex(/^[^\s/\\?#@]+$/, 'an address or a host name, without http:// and without a port');
