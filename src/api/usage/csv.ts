/** A cell; `null` is an empty cell. */
export type Cell = string | number | null;

/**
 * Writes a line of CSV (RFC 4180) with its CRLF. An apostrophe precedes text that a spreadsheet would read as a formula, because
 * it begins with `=`, `+`, `-`, `@`, a tab or a carriage return (OWASP, CSV Injection): names may come from customers.
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
