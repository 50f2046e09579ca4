export function explainNpm(output: string, exitCode: number): string;
