export const engineNodeFlags: readonly string[];
