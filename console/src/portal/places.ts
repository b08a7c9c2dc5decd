import { linkTo } from '../route.ts';
import { usePortal } from './session.ts';

/** Addresses of the pages of a session. */
export interface Places {
  readonly subAccount: (id: string, tab?: string) => string;
  readonly key: (ownerId: string, id: string) => string;
}

/** The addresses of the session. Its only sub-account is its first page. */
export function usePlaces(): Places {
  const { sub_account: only } = usePortal().session;
  return {
    subAccount: (id, tab = '') => linkTo(id === only?.id ? [] : ['sub-accounts', id], { tab }),
    key: (ownerId, id) => linkTo(['sub-accounts', ownerId, 'keys', id]),
  };
}
