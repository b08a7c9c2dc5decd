import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ApiProblem } from '../../api/problem.ts';
import { useSession } from '../../session.ts';
import { ChangeDialog } from '../../ui/change-dialog.tsx';
import type { Closed } from '../../use-dialog.ts';

type Metadata = Readonly<Record<string, string>>;

interface EditMetadataProps {
  /** Path of the account in the operator API. */
  readonly path: string;
  readonly name: string;
  readonly metadata: Metadata;
  readonly onClose: Closed;
}

/** Asks for changes of the metadata of an account. Sends only pairs that have changed. */
export function EditMetadata({ path, name, metadata, onClose }: EditMetadataProps): JSX.Element {
  const { api } = useSession();
  return (
    <ChangeDialog
      title={`Metadata of ${name}`}
      action="Save"
      done="Saved"
      onClose={onClose}
      change={async (form) => api.change('PATCH', path, { metadata: changedPairs(pairsIn(form), metadata) })}
    >
      <p class="hint">Pairs of texts for your own systems. The gateway does not look at them.</p>
      <PairFields metadata={metadata} />
    </ChangeDialog>
  );
}

interface Row {
  /** Tells rows apart whose names are being typed. */
  readonly id: number;
  readonly name: string;
  readonly value: string;
  readonly isNew: boolean;
}

/** Controls for pairs of texts: a row for each, which can be removed, and a button for another one. */
function PairFields({ metadata }: { readonly metadata: Metadata }): JSX.Element {
  const [rows, setRows] = useState<readonly Row[]>(() =>
    Object.entries(metadata).map(([name, value], id) => ({ id, name, value, isNew: false })),
  );
  const add = useRef<HTMLButtonElement>(null);
  const remove = (id: number): void => {
    setRows(rows.filter((row) => row.id !== id));
    // The button that had the focus goes with its row.
    add.current?.focus();
  };
  const append = (): void => {
    const id = Math.max(-1, ...rows.map((row) => row.id)) + 1;
    setRows([...rows, { id, name: '', value: '', isNew: true }]);
  };
  return (
    <>
      {rows.map((row, index) => (
        <PairRow key={row.id} row={row} number={index + 1} onRemove={() => remove(row.id)} />
      ))}
      <button type="button" ref={add} onClick={append}>
        Add a pair
      </button>
    </>
  );
}

interface PairRowProps {
  readonly row: Row;
  readonly number: number;
  readonly onRemove: () => void;
}

function PairRow({ row: { name, value, isNew }, number, onRemove }: PairRowProps): JSX.Element {
  return (
    <div class="pair" role="group" aria-label={`Pair ${number}`}>
      <input
        name="pair_name"
        aria-label="Name"
        placeholder="Name"
        required
        maxLength={40}
        defaultValue={name}
        ref={isNew ? focusOnce : null}
      />
      <input name="pair_value" aria-label="Value" placeholder="Value" maxLength={500} defaultValue={value} />
      <button type="button" class="quiet" aria-label={`Remove pair ${number}`} onClick={onRemove}>
        Remove
      </button>
    </div>
  );
}

function focusOnce(input: HTMLInputElement | null): void {
  input?.focus();
}

/** Reads {@link PairFields}. @throws {ApiProblem} if two pairs have the same name */
function pairsIn(form: FormData): ReadonlyMap<string, string> {
  const names = form.getAll('pair_name').map(String);
  const values = form.getAll('pair_value').map(String);
  const pairs = new Map(names.map((name, index) => [name, values[index] ?? '']));
  if (pairs.size < names.length)
    throw new ApiProblem(400, { code: 'invalid_request', detail: 'Two pairs have the same name.' });
  return pairs;
}

/** Returns the pairs that differ from those before; `null` removes a pair. */
function changedPairs(after: ReadonlyMap<string, string>, before: Metadata): Record<string, string | null> {
  const removed = Object.keys(before).filter((name) => !after.has(name));
  const set = [...after].filter(([name, value]) => before[name] !== value);
  return Object.fromEntries([...removed.map((name) => [name, null] as const), ...set]);
}
