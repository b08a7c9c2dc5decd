/** Proof that a change is in force (`X-Service-Enforced`). */
export interface Receipt {
  /** Number of replicas that confirmed. */
  readonly replicas: number;
  /** Milliseconds until the last of them confirmed. */
  readonly ms: number;
  /** Number of replicas that did not confirm before their lease ended. */
  readonly unheard: number;
  /** Number of open streams that were ended. */
  readonly streams: number;
}

/** Reads the receipt of a response; `null` if the change affected no replica. The name of its header is configurable. */
export function receiptOf(headers: Headers): Receipt | null {
  const [, text] = [...headers].find(([name]) => name.endsWith('-enforced')) ?? [];
  if (text === undefined) return null;
  const members = new Map(text.split('; ').map((part) => part.split('=') as [string, string]));
  const number = (name: string): number => Number(members.get(name) ?? 0);
  return {
    replicas: number('replicas'),
    ms: number('ms'),
    unheard: number('unheard'),
    streams: number('streams'),
  };
}
