import { managementPath, operatorPath } from '../../../src/domain/paths.ts';
import type { Api, Json } from './types.ts';

const errors = `

## Errors

Every rejection is \`application/problem+json\` (RFC 9457). Programs look at \`code\`; the codes of an operation are listed with its statuses. A body or query parameter that is not described here gets 400 \`invalid_request\`, and \`errors\` names each fault. A method that the path does not have gets 405 with \`Allow\`. HEAD works wherever GET does.

## Sending a request again

\`POST\` takes an \`Idempotency-Key\`: the same request under the same key takes effect once. Other methods can simply be repeated. \`Retry-After\` of a 429 or 503 says when.`;

/** The endpoints for parents. */
export const parentApi: Api = {
  title: 'Tenancy Gateway: sub-accounts',
  description: `With this API a parent account manages its sub-accounts and their API keys, and reads usage and events. All calls act as the account of the API key.${errors}`,
  prefix: managementPath,
  callers: 'parents',
  ownerId: 'sub_id',
  tags: [
    ['Sub-accounts', 'Customers of the calling account.'],
    ['API keys', 'Keys of sub-accounts.'],
    ['Usage', 'Requests to the API behind the gateway.'],
    ['Events', 'Changes and who made them.'],
    ['Portal', 'A page for the people of the account.'],
    ['Caller', 'The calling account and key.'],
  ],
};

/** The operator API. */
export const operatorApi: Api = {
  title: 'Tenancy Gateway: operator API',
  description: `With this API the operator of a gateway manages parent accounts, their sub-accounts and any API key. Only the internal listener serves it.${errors}`,
  prefix: operatorPath,
  callers: 'operators',
  ownerId: 'account_id',
  tags: [
    ['Accounts', 'Parent accounts: customers of the API behind the gateway.'],
    ['Plans', 'Named sets of limits that parent accounts share.'],
    ['Sub-accounts', 'Sub-accounts of any parent.'],
    ['API keys', 'Keys of a parent account.'],
    ['Any API key', 'Keys of any account, parent or sub-account.'],
    ['Imports', 'Many accounts or keys at a time.'],
    ['Usage', 'Requests of all parents, or of one, to the API behind the gateway.'],
    ['Events', 'Changes and who made them.'],
    ['This gateway', 'Its decisions, its replicas and its version.'],
  ],
};

/** How callers authenticate. */
export const securitySchemes: Readonly<Record<'apiKey' | 'operatorToken', Json>> = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tgw_…',
    description:
      'An API key of a parent account. Each operation lists the scopes that the key must hold; they are compared exactly.',
  },
  operatorToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The token of an operator. Each operation lists the role that the operator must have, `viewer`, `support` or `admin`; `support` may do everything that `viewer` may, and `admin` everything. `ADMIN_TOKEN` is the token of an `admin`.',
  },
};
