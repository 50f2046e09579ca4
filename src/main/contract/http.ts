/** Names that the page and the server must agree on. */
export const sessionHeader = 'x-dormouse-session';
export const sessionPath = '/ui/session';
/** `POST /ui/request/NAME`, JSON in, `Result` out. */
export const requestPath = '/ui/request';
/** `GET`, a `text/event-stream` body of `AppEvent`s read with `fetch`, since EventSource cannot send headers. */
export const eventsPath = '/ui/events';
/** The one-time ticket stands behind `#t=` in the link that start prints. */
export const ticketPattern = /^#t=([A-Za-z0-9_-]{20,100})$/;
