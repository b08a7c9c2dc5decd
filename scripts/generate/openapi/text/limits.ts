import type { Subject } from '../types.ts';

const inForce = [
  {
    limited: 'sub_account',
    per: 'month',
    unit: 'requests',
    limit: 100000,
    used: 81250,
    left: 18750,
    resets_at: '2026-04-01T00:00:00.000Z',
  },
  {
    limited: 'parent',
    per: 'second',
    unit: 'requests',
    limit: 200,
    used: 1,
    left: 199,
    resets_at: '2026-03-01T10:00:01.000Z',
  },
];

/** Limits as they stand. */
export const limits: Subject = {
  parents: {
    operations: {
      'GET /v1/sub-accounts/{sub_id}/limits': {
        id: 'getSubAccountLimits',
        tag: 'Usage',
        summary: 'Show what is left of the limits of a sub-account',
        description:
          'The limits that a request as this sub-account counts against: its own and those of the calling account; with `key_id` those of one of its keys, too. The call counts as no request.',
        responses: { 200: ['LimitsInForce', 'The limits, in the order in which a 429 names them.'] },
      },
    },
  },
  operators: {
    operations: {
      'GET /admin/v1/accounts/{account_id}/limits': {
        id: 'getAccountLimits',
        tag: 'Usage',
        summary: 'Show what is left of the limits of an account',
        description:
          'The limits that a request as this account counts against: for a sub-account its own and those of its parent; with `key_id` those of one of its keys, too. The call counts as no request.',
        responses: { 200: ['LimitsInForce', 'The limits, in the order in which a 429 names them.'] },
        anyAccount: true,
      },
    },
  },
  examples: { LimitsInForce: { data: inForce } },
  schemas: {
    LimitsInForce: 'Limits with what is left of them.',
    LimitInForce: 'One limit with what is left of it.',
  },
  inner: {
    'LimitsInForce/properties/data/items': 'LimitInForce',
  },
  members: {
    'LimitInForce.limit':
      'How many requests or units fit into the period, or requests at once into a bucket.',
    'LimitInForce.limited': 'The owner of the limit.',
    'LimitInForce.per': 'The period of the limit. A day and a month are of UTC.',
    'LimitInForce.resets_at': 'When all of the limit is available again.',
    left: 'How many more requests would pass now, or how many units are left.',
    used: 'How many requests or units of the limit are used.',
    'query.key_id': 'Shows the limits of this key of the account, too.',
  },
};
