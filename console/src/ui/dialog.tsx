import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Whether Escape does nothing, because a result is to come. */
  readonly isBusy?: boolean;
  readonly children: ComponentChildren;
}

/** A dialog over the page. The browser keeps the focus in it, closes it by Escape and gives the focus back. */
export function Dialog({ title, onClose, isBusy = false, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onClose={onClose}
      onCancel={(event) => isBusy && event.preventDefault()}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
