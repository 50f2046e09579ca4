import type { ErrorCode } from '../../contract/index.ts';

/** Statuses for failures of a remote engine: of the class that it gave, or what a gateway says of one that is not there. */
export const remoteFailures: Partial<Record<ErrorCode, { readonly status: number; readonly code: string }>> = {
  remote_refused: { status: 400, code: 'remote_refused' },
  // 401 would say that the key for this server is wrong.
  remote_unauthorized: { status: 403, code: 'remote_unauthorized' },
  remote_model_not_found: { status: 404, code: 'model_not_found' },
  remote_not_found: { status: 404, code: 'model_not_found' },
  remote_busy: { status: 429, code: 'remote_busy' },
  remote_failed: { status: 502, code: 'remote_failed' },
  remote_unreachable: { status: 502, code: 'remote_unreachable' },
  remote_timeout: { status: 504, code: 'remote_timeout' },
};
