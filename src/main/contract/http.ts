/** Names that the page and the server must agree on. */
export const sessionHeader = 'x-dormouse-session';
export const sessionPath = '/ui/session';
/** `POST /ui/request/NAME`, JSON in, `Result` out. */
export const requestPath = '/ui/request';
/** `GET`, a `text/event-stream` body of `AppEvent`s read with `fetch`, since EventSource cannot send headers. */
export const eventsPath = '/ui/events';
/** Time between two comment lines that keep `eventsPath` alive, in ms. Silence of several times this means: gone. */
export const eventHeartbeatMs = 15_000;
/** `POST` with the owner's token: another process of the same user asks for a fresh link to this one. */
export const linkPath = '/ui/link';
export const ownerHeader = 'x-dormouse-owner';
/** The one-time ticket stands behind `#t=` in the link that start prints. */
export const ticketPattern = /^#t=([A-Za-z0-9_-]{20,100})$/;

/** What a second start of the same user sends to `linkPath`. Both may be left out. */
export type SecondStart = {
  /** `builtin` or an absolute path to load; null: none. */
  readonly model: string | null;
  /** Bring the window to the front, where there is one. */
  readonly show: boolean;
};
