/** Reads the events of a parent as a program would that follows them: from the newest back to the newest it knows. */
import type { Random } from '../coherence/random.ts';
import { insist, type Asked } from './gateways.ts';

/** An event as responses show it. */
export interface ShownEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly actor: { readonly kind: string; readonly key_id: string | null; readonly name: string | null };
  readonly request_id: string | null;
  readonly address: string | null;
  readonly data: {
    readonly object: Readonly<Record<string, unknown>>;
    readonly previous: Readonly<Record<string, unknown>> | null;
  };
}

interface Page {
  readonly data: readonly ShownEvent[];
  readonly next_cursor: string | null;
}

export class EventReader {
  /** In the order in which they were found, those of one reading from the oldest on. */
  readonly found: ShownEvent[] = [];
  readonly #read: (query: string) => Promise<Page>;

  /** @param token of an operator */
  constructor(gateways: readonly Asked[], random: Random, account: string, token: string) {
    this.#read = async (query) => {
      const path = `/events?account_id=${account}&${query}`;
      const response = await insist(gateways, random, { method: 'GET', path, key: token, to: 'operator' });
      if (response.status !== 200) throw new Error(response.text);
      return response.body as unknown as Page;
    };
  }

  /** Reads what has come since. @param limit rows of a page */
  async read(limit: number): Promise<void> {
    const newest = this.found.at(-1)?.id ?? '';
    const fresh: ShownEvent[] = [];
    for (let cursor = ''; ;) {
      const { data, next_cursor: next } = await this.#read(`limit=${limit}${cursor}`);
      fresh.push(...data.filter(({ id }) => id > newest));
      if (next === null || (data.at(-1)?.id ?? '') <= newest) break;
      cursor = `&cursor=${next}`;
    }
    this.found.push(...fresh.toReversed());
  }
}
