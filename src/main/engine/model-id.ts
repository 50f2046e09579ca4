import { basename } from 'node:path';

/** Name under which a model is asked for: `builtin`, or the file name without `.gguf` and part number. */
export function modelId(model: { readonly path: string; readonly builtin: boolean }): string {
  if (model.builtin) return 'builtin';
  return basename(model.path)
    .replace(/\.gguf$/i, '')
    .replace(/-\d{5}-of-\d{5}$/, '');
}
