import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  /** Called once the dialog is closed. */
  readonly onClose: () => void;
  /** Whether Escape does nothing, because a result is to come, or would be lost. */
  readonly keepsOpen?: boolean;
  /** @param close closes the dialog; the control that opened it gets the focus back */
  readonly children: (close: () => void) => ComponentChildren;
}

/** A dialog over the page. The browser keeps the focus in it, and closes it by Escape. */
export function Dialog({ title, onClose, keepsOpen = false, children }: DialogProps): JSX.Element {
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
      onCancel={(event) => keepsOpen && event.preventDefault()}
      // A browser lets a page refuse one `cancel` only, so a second Escape must not become one.
      onKeyDown={(event) => keepsOpen && event.key === 'Escape' && event.preventDefault()}
    >
      <h2 id={titleId}>{title}</h2>
      {children(() => dialog.current?.close())}
    </dialog>
  );
}
