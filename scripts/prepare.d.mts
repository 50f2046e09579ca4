export function prepare(options?: {
  readonly install?: boolean;
  readonly build?: boolean;
}): Promise<{ readonly ok: true } | { readonly ok: false; readonly message: string; readonly exitCode: number }>;
