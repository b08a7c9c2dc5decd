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
        description:
          'The account and the key that call, how many sub-accounts are active, and what is left of the limits.',
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
        limits_in_force: [],
      },
    },
  },
  schemas: {
    Caller: 'The calling account and key.',
    CallerAccount: 'The calling account.',
  },
  inner: {
    'Caller/properties/account': 'CallerAccount',
    'Caller/properties/limits_in_force/items': 'LimitInForce',
  },
  members: {
    'Caller.api_key': 'The calling key.',
    'Caller.limits_in_force': 'The limits of the key and the account, with what is left of them.',
  },
};
