import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { counted } from './format.ts';
import type { Receipt } from './api/receipt.ts';

/** What pages for operators and pages for customers say differently. */
export interface Wording {
  /** Name of the whole site, in titles of the browser's tabs. */
  readonly site: string;
  /** What to do about an error, by its code. */
  readonly advice: Readonly<Record<string, string>>;
  /** Says where a change is in force. */
  readonly enforced: (receipt: Receipt | null) => string;
}

export const WordingContext = createContext<Wording | null>(null);

/** The wording of the page. */
export function useWording(): Wording {
  const wording = useContext(WordingContext);
  if (wording === null) throw new Error('the page has no wording');
  return wording;
}

/** How pages speak to operators. */
export const forOperators: Wording = {
  site: 'Tenancy Gateway',
  advice: {
    unavailable:
      'The gateway cannot reach its database, or not in time. It recovers by itself; /readyz says more.',
    insufficient_role: 'Ask an operator with the role that is needed.',
    still_active: 'Suspend or deactivate the account first.',
    not_found: 'It may have been deleted, or the address is incomplete.',
  },
  enforced: (receipt) => {
    if (receipt === null) return 'No replica had used it, so none had to confirm.';
    const { replicas, ms, unheard, streams } = receipt;
    const parts = [`Enforced on ${counted(replicas, 'replica')} in ${ms} ms.`];
    if (unheard > 0)
      parts.push(`${counted(unheard, 'replica')} did not answer, and decide nothing any more.`);
    if (streams > 0) parts.push(`${counted(streams, 'open stream')} ended.`);
    return parts.join(' ');
  },
};
