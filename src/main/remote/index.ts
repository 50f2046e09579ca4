export { normalBaseUrl } from './base-url.ts';
export { RemoteClient, type RemoteEndpoint } from './remote-client.ts';
export type { RemoteChat } from './remote-request.ts';
