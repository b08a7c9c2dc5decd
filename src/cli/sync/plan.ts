import { mergeMetadata, type Metadata } from '../../domain/account.ts';
import type { GatewayApi, Listing } from '../operator-api.ts';
import type { SubAccount } from '../../generated/operator-types.ts';

/** A sub-account as described by a row of the list. */
export interface WantedSubAccount {
  readonly external_id: string;
  readonly name: string;
  readonly metadata?: Readonly<Record<string, string | null>>;
}

/** Action that a row of the list needs. */
export type RowAction = 'create' | 'update' | 'unchanged';

/** A parent's sub-accounts, keyed by `external_id`. All are held in memory: by default a parent has at most 10,000. */
export class PresentSubAccounts {
  readonly #byName = new Map<string, SubAccount>();
  /** Number of sub-accounts without an `external_id`, which rows of the list cannot refer to. */
  unnamed = 0;

  /** Reads all sub-accounts of the parent whose key `api` uses. @throws {Failure} */
  static async read(api: GatewayApi): Promise<PresentSubAccounts> {
    const present = new PresentSubAccounts();
    let cursor: string | null = '';
    do {
      const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page: Listing<SubAccount> = await api.call('GET', `?limit=100${after}`);
      for (const account of page.data) present.#add(account);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return present;
  }

  #add(account: SubAccount): void {
    if (account.external_id === null) this.unnamed += 1;
    else this.#byName.set(account.external_id, account);
  }

  get(externalId: string): SubAccount | undefined {
    return this.#byName.get(externalId);
  }

  actionFor({ external_id: externalId, name, metadata = {} }: WantedSubAccount): RowAction {
    const there = this.#byName.get(externalId);
    if (there === undefined) return 'create';
    return there.name === name && isMerged(there.metadata, metadata) ? 'unchanged' : 'update';
  }

  /** Returns the active sub-accounts that are not in the list. */
  missing(isListed: (externalId: string) => boolean): readonly SubAccount[] {
    return [...this.#byName.entries()]
      .filter(([externalId, { status }]) => status === 'active' && !isListed(externalId))
      .map(([, account]) => account);
  }
}

/** Whether merging `change` into the metadata would leave the metadata unchanged. */
function isMerged(there: Metadata, change: Readonly<Record<string, string | null>>): boolean {
  const merged = mergeMetadata(there, change);
  const pairs = Object.entries(there);
  return (
    merged !== undefined &&
    pairs.length === Object.keys(merged).length &&
    pairs.every(([key, value]) => merged[key] === value)
  );
}
