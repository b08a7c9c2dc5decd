import { hash } from 'node:crypto';
import { pastExpiry } from '../../api/api-keys/imported-key.ts';
import { mostImported } from '../../api/rest/import-size.ts';
import type { RowRules } from '../../api/operator/import/requests.ts';
import { bodyValidator } from '../../http/schemas.ts';
import { fieldFaults } from '../../http/field-faults.ts';
import {
  readRows,
  rowKinds,
  rowTypes,
  type FileRow,
  type RowFile,
  type RowKinds,
  type RowType,
} from './rows.ts';

/** A fault in a line of a file. The text never repeats values from the file, because some are secrets. */
export interface LineFault {
  readonly line: number;
  readonly text: string;
}

/** Contents of a checked file. */
export interface CheckedFile {
  /** Number of rows of each type. */
  readonly counts: Readonly<Record<RowType, number>>;
  /** All faults, in line order. */
  readonly faults: readonly LineFault[];
  readonly names: NamesInFile;
}

/** Names of the accounts and keys in a file. Each name takes about 100 bytes of memory. */
export class NamesInFile {
  readonly #lines = new Map<string, number>();

  /** Adds a name. Returns the line of an earlier row with the same name; `undefined` if there is none. */
  add(name: string, line: number): number | undefined {
    const short = shortened(name);
    const before = this.#lines.get(short);
    if (before === undefined) this.#lines.set(short, line);
    return before;
  }

  has(name: string): boolean {
    return this.#lines.has(shortened(name));
  }
}

/**
 * Shortens a name to 12 characters of its digest. V8 copies a substring as short as that. A longer substring would
 * refer to the whole digest and keep it in memory.
 */
function shortened(name: string): string {
  return hash('sha256', name, 'binary').slice(0, 12);
}

/**
 * Reads a whole file and finds all its faults, using the gateway's own rules. Sends nothing.
 *
 * @param kinds rules for the rows of each type
 */
export async function checkFile(
  file: RowFile,
  rules: RowRules,
  kinds: RowKinds = rowKinds,
): Promise<CheckedFile> {
  const counts = { account: 0, sub_account: 0, api_key: 0 };
  const faults: LineFault[] = [];
  const names = new NamesInFile();
  const waiting: Record<RowType, FileRow[]> = { account: [], sub_account: [], api_key: [] };
  const checkRows = rowChecker(rules, names, kinds);
  for await (const each of readRows(file)) {
    if ('fault' in each) {
      faults.push({ line: each.line, text: each.fault });
      continue;
    }
    counts[each.type] += 1;
    const list = waiting[each.type];
    list.push(each);
    if (list.length < mostImported) continue;
    faults.push(...checkRows(each.type, list));
    waiting[each.type] = [];
  }
  for (const type of rowTypes) if (waiting[type].length > 0) faults.push(...checkRows(type, waiting[type]));
  return { counts, faults: faults.sort((a, b) => a.line - b.line), names };
}

function rowChecker(rules: RowRules, names: NamesInFile, kinds: RowKinds) {
  const validators = Object.fromEntries(
    rowTypes.map((type) => [type, bodyValidator(kinds[type].body)]),
  ) as Readonly<Record<RowType, ReturnType<typeof bodyValidator>>>;

  return (type: RowType, list: readonly FileRow[]): LineFault[] => {
    const { member, faults: furtherFaults, claims } = kinds[type];
    const rows = list.map(({ row }) => row);
    const validate = validators[type];
    const found = validate({ [member]: rows }) ? [] : fieldFaults(validate.errors ?? [], 'body');
    const faults = [...found, ...furtherFaults(rows, rules)].flatMap(({ pointer, detail }): LineFault[] => {
      const [, , index = '', ...rest] = pointer.split('/');
      const { line = 0 } = list[Number(index)] ?? {};
      // Lists often contain expired keys, so these do not count as faults. The import reports their rows as left out.
      if (detail === pastExpiry) return [];
      const column = rest.join('/');
      return [{ line, text: column === '' ? detail : `${column} ${detail}` }];
    });
    for (const { line, row } of list) {
      for (const [column, text] of claims(row, rules)) {
        const before = names.add(text, line);
        if (before !== undefined) faults.push({ line, text: `${column} is the same as in line ${before}.` });
      }
    }
    return faults;
  };
}
