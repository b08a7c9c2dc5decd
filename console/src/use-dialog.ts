import { useState } from 'preact/hooks';

/** Called when a dialog has been closed. @param hasChanged whether it made its change */
export type Closed = (hasChanged: boolean) => void;

/** The dialog that is open on a page. */
export interface OpenDialog<Name extends string> {
  /** Its name; `null` if none is open. */
  readonly name: Name | null;
  readonly show: (name: Name) => void;
  readonly closed: Closed;
}

/** Keeps which dialog of a page is open. @param onChanged called when a dialog that made its change has been closed */
export function useDialog<Name extends string>(onChanged: () => void): OpenDialog<Name> {
  const [name, show] = useState<Name | null>(null);
  const closed = (hasChanged: boolean): void => {
    show(null);
    if (hasChanged) onChanged();
  };
  return { name, show, closed };
}
