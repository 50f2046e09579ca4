/** Writes Prometheus' text exposition format, family by family. */
export class MetricsText {
  readonly #lines: string[] = [];
  #name = '';

  /** Begins a family; the values that follow are its. */
  family(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): void {
    this.#name = name;
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  }

  /** @param suffix `_bucket`, `_sum` or `_count` of a histogram. */
  value(value: number, labels: Readonly<Record<string, string>> = {}, suffix = ''): void {
    const pairs = Object.entries(labels).map(([name, text]) => `${name}="${escaped(text)}"`);
    this.#lines.push(`${this.#name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`);
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
