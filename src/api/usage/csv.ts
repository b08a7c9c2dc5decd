/** A cell; `null` is an empty cell. */
export type Cell = string | number | null;

/**
 * Positions at which a spreadsheet may see the start of a formula (OWASP, CSV Injection): at the start of the text, and
 * after any character that separates cells in some locale or import setting. Such a reader drops quotes that it finds there.
 */
const formulas = /(?<=^|[;|\t\r\n])(?=[ "']*[=+\-@\t\r])/g;

/**
 * Formats a line of CSV, including its CRLF (RFC 4180). An apostrophe is inserted wherever a spreadsheet could see the
 * start of a formula, because customers may choose names that contain formulas.
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
