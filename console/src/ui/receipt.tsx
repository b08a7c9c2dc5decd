import type { JSX } from 'preact';
import type { Receipt as Enforced } from '../api/receipt.ts';
import { useWording } from '../wording.ts';

interface ReceiptProps {
  /** What was done, such as "Revoked". */
  readonly done: string;
  readonly enforced: Enforced | null;
}

/** Says that a change is done, and on how many replicas it is in force. */
export function Receipt({ done, enforced }: ReceiptProps): JSX.Element {
  const wording = useWording();
  return (
    <p class="receipt" role="status">
      <strong>{done}.</strong> {wording.enforced(enforced)}
    </p>
  );
}
