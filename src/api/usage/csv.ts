/** A cell; `null` is an empty cell. */
export type Cell = string | number | null;

/**
 * Places where a spreadsheet may see the start of a formula (OWASP, CSV Injection): the start of a text, and after any
 * character that some country or import setting uses to separate cells.
 */
const formulas = /(?<=^|[;|\t\r\n])(?= *[=+\-@\t\r])/g;

/**
 * Writes a line of CSV (RFC 4180) with its CRLF. An apostrophe precedes text that a spreadsheet would read as a
 * formula, because names may come from customers.
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = cell.replaceAll(formulas, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
