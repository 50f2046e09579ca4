import { fail, type AppError } from '../contract/index.ts';
import { systemCode } from './atomic-file.ts';

/** A failed write in words: what happened and what makes it work again. */
export function storageError(error: unknown, path: string): { readonly ok: false; readonly error: AppError } {
  const code = systemCode(error);
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return fail(
        'storage_failed',
        'The disk is full, so this could not be saved.',
        'Free some space, then try again.',
      );
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return fail(
        'storage_failed',
        `Dormouse may not write to ${path}.`,
        'Give your user the right to write there, then try again, or start with another --data-dir.',
      );
    default:
      return fail(
        'storage_failed',
        `This could not be saved to ${path}: ${error instanceof Error ? error.message : String(error)}`,
        'Try again; if it goes on, start with another --data-dir.',
      );
  }
}
