import type { Subject } from '../types.ts';
import { account, created, noLimits, parentKey } from './world.ts';

/** The calling account and key. */
export const caller: Subject = {
  parents: {
    operations: {
      'GET /v1/sub-accounts/caller': {
        id: 'getCaller',
        tag: 'Caller',
        summary: 'Get the caller',
        description: 'The account and the key that call, and how many sub-accounts are active.',
        responses: { 200: ['Caller', 'The caller.'] },
      },
    },
    examples: {
      Caller: {
        account: {
          id: account,
          name: 'Acme Freight',
          external_id: 'cus_42',
          limits: noLimits,
          created_at: created,
          updated_at: created,
        },
        api_key: parentKey,
        active_sub_accounts: 1,
      },
    },
  },
  schemas: {
    Caller: 'The calling account and key.',
    CallerAccount: 'The calling account.',
  },
  inner: {
    'Caller/properties/account': 'CallerAccount',
  },
  members: {
    'Caller.api_key': 'The calling key.',
  },
};
