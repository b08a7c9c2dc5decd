import type { JSX } from 'preact';
import type { Receipt as Enforced } from '../api/receipt.ts';

interface ReceiptProps {
  /** What was done, such as "Revoked". */
  readonly done: string;
  readonly enforced: Enforced | null;
}

/** Says that a change is done, and on how many replicas it is in force. */
export function Receipt({ done, enforced }: ReceiptProps): JSX.Element {
  return (
    <p class="receipt" role="status">
      <strong>{done}.</strong>{' '}
      {enforced === null ? 'No replica had used it, so none had to confirm.' : sentence(enforced)}
    </p>
  );
}

function sentence({ replicas, ms, unheard, streams }: Enforced): string {
  const parts = [`Enforced on ${counted(replicas, 'replica')} in ${ms} ms.`];
  if (unheard > 0) parts.push(`${counted(unheard, 'replica')} did not answer, and decide nothing any more.`);
  if (streams > 0) parts.push(`${counted(streams, 'open stream')} ended.`);
  return parts.join(' ');
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
