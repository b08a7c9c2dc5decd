import type { ComponentChildren, JSX, TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { Changed } from '../api/api-client.ts';
import type { ApiProblem } from '../api/problem.ts';
import type { Closed } from '../use-dialog.ts';
import { asProblem } from '../use-load.ts';
import { Dialog } from './dialog.tsx';
import { Problem } from './problem.tsx';
import { Receipt } from './receipt.tsx';

interface ChangeDialogProps<T> {
  /** What it does. If it begins with `action`, it says afterwards what was done. */
  readonly title: string;
  /** Text of the button, such as "Revoke". */
  readonly action: string;
  /** What was done, such as "Revoked". */
  readonly done: string;
  /** Whether the change takes something away. */
  readonly isDangerous?: boolean;
  /** Makes the change. @param form values of the controls */
  readonly change: (form: FormData) => Promise<Changed<T>>;
  readonly onClose: Closed;
  /** Shown above the receipt, such as a secret. */
  readonly result?: (value: T) => ComponentChildren;
  /** Text of the button that closes the result. If it is given, nothing but the button does, Escape included. */
  readonly dismiss?: string;
  readonly children: ComponentChildren;
}

/** Asks for a change, makes it, and shows its receipt. */
export function ChangeDialog<T>(props: ChangeDialogProps<T>): JSX.Element {
  const { title, action, done, isDangerous = false, change, onClose, result, dismiss, children } = props;
  const [changed, setChanged] = useState<Changed<T> | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      setChanged(await change(form));
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  return (
    <Dialog
      title={changed === null ? title : past(title, action, done)}
      keepsOpen={isBusy || (changed !== null && dismiss !== undefined)}
      onClose={() => onClose(changed !== null)}
    >
      {(close) =>
        changed === null ? (
          <form onSubmit={(event) => void submit(event)}>
            {children}
            {problem && <Problem problem={problem} isOfChange />}
            <div class="buttons">
              <button type="button" class="quiet" disabled={isBusy} onClick={close}>
                Cancel
              </button>
              <button type="submit" class={isDangerous ? 'danger' : 'primary'} disabled={isBusy}>
                {isBusy ? `${action}…` : action}
              </button>
            </div>
          </form>
        ) : (
          // The control that had the focus is gone with the form. Enter must not close a dialog that shows a secret.
          <div tabIndex={-1} ref={focus}>
            {result?.(changed.value)}
            <Receipt done={done} enforced={changed.enforced} />
            <div class="buttons">
              <button type="button" class="primary" onClick={close}>
                {dismiss ?? 'Close'}
              </button>
            </div>
          </div>
        )
      }
    </Dialog>
  );
}

/** Turns "Revoke production?" into "Revoked production". */
function past(title: string, action: string, done: string): string {
  return title.startsWith(action) ? done + title.slice(action.length).replace(/\?$/, '') : title;
}

function focus(element: HTMLElement | null): void {
  element?.focus();
}
