import type { ComponentChildren, JSX } from 'preact';

/** A column of a table. */
export interface Column<Row> {
  readonly name: string;
  /** Whether its cells are numbers, which stand at the right. */
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  /** What the table shows, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Text if there are no rows. */
  readonly none: string;
}

/** A table that scrolls sideways on narrow screens. */
export function Table<Row>({ label, columns, rows, keyOf, none }: TableProps<Row>): JSX.Element {
  if (rows.length === 0) return <p class="soft">{none}</p>;
  return (
    <div class="table" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th scope="col" class={isNumber ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ isNumber, cell }) => (
                <td class={isNumber ? 'number' : undefined}>{cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
