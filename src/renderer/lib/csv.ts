export type CsvValue = string | number | boolean | null;

/** A table as CSV (RFC 4180): CRLF, quotes where they are needed, empty for null. */
export function toCsv(header: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [header, ...rows].map((row) => row.map(cell).join(',') + '\r\n').join('');
}

function cell(value: CsvValue): string {
  if (value === null) return '';
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
