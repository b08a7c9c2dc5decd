/** One cell; `null` is an empty one. */
export type Cell = string | number | null;

/**
 * Writes a line of CSV (RFC 4180), its CRLF included. A text that a spreadsheet would read as a formula (it begins with `=`, `+`, `-`,
 * `@`, a tab or a carriage return) gets an apostrophe before it (OWASP, CSV Injection): names of sub-accounts may come from their
 * customers.
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
