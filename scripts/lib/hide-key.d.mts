export function hideKey(args: readonly string[]): {
  readonly args: readonly string[];
  readonly env: { readonly DORMOUSE_API_KEY?: string };
};
