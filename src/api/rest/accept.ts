/**
 * Whether a client prefers CSV to JSON, according to its `Accept` header (RFC 9110 section 12.5.1). The weight of a
 * format is the weight of the most specific range that matches the format. The format with the higher weight wins. If
 * the weights are equal, the format with the more specific range wins. JSON wins every remaining tie. A client that
 * accepts neither format gets JSON, as from every other operation.
 *
 * @param accept value of the header, or several values joined by commas; `undefined` if there is none
 */
export function prefersCsv(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const ranges = accept.split(',').flatMap(readRange);
  const [csv, json] = [weigh(ranges, 'text', 'csv'), weigh(ranges, 'application', 'json')];
  if (csv.weight !== json.weight) return csv.weight > json.weight;
  return csv.weight > 0 && csv.specificity > json.specificity;
}

interface Range {
  readonly type: string;
  readonly subtype: string;
  readonly weight: number;
}

interface Weighed {
  readonly weight: number;
  /**
   * How precisely the best matching range names the format: 3 if it names type and subtype, 2 if it names only the
   * type, 1 if it names neither. 0 if no range matches.
   */
  readonly specificity: number;
}

function readRange(text: string): readonly Range[] {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const [, type, subtype] = /^([^\s/]+)\/([^\s/]+)$/.exec(range) ?? [];
  if (type === undefined || subtype === undefined) return [];
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? '1';
  // A malformed weight counts as 0.
  return [{ type, subtype, weight: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 0 }];
}

function weigh(ranges: readonly Range[], type: string, subtype: string): Weighed {
  let best: Weighed = { weight: 0, specificity: 0 };
  for (const range of ranges) {
    const specificity = specificityOf(range, type, subtype);
    if (specificity > best.specificity) best = { weight: range.weight, specificity };
  }
  return best;
}

function specificityOf(range: Range, type: string, subtype: string): number {
  if (range.type === type) return range.subtype === subtype ? 3 : range.subtype === '*' ? 2 : 0;
  return range.type === '*' && range.subtype === '*' ? 1 : 0;
}
