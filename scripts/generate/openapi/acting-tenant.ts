import type { ProblemCode } from '../../../src/domain/problem.ts';
import { responseHeaders } from './headers.ts';
import { ProblemResponses } from './problems.ts';
import { securitySchemes } from './apis.ts';
import { problem } from './problem-schema.ts';
import type { Json } from './types.ts';
import { version } from './version.ts';

/** What the gateway itself may respond on a proxied path, by the name of its component. */
const codes: readonly ProblemCode[] = [
  'invalid_target',
  'invalid_request',
  'invalid_acting_tenant',
  'acting_tenant_required',
  'unauthenticated',
  'invalid_api_key',
  'api_key_revoked',
  'api_key_expired',
  'account_suspended',
  'account_deactivated',
  'insufficient_scope',
  'acting_tenant_forbidden',
  'acting_tenant_unknown',
  'acting_tenant_deactivated',
  'too_many_requests',
  'rate_limited',
  'quota_exceeded',
  'upstream_unreachable',
  'unavailable',
  'overloaded',
  'upstream_timeout',
];

const uuid = '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}';

/**
 * What the gateway adds to the API behind it, for that API's own OpenAPI document to include: the acting header, the API
 * key, and what the gateway responds in place of the service.
 */
export function actingTenantComponents(): Json {
  const problems = new ProblemResponses([codes]);
  problems.of(codes);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tenancy Gateway: its additions to the API behind it',
      version,
      description:
        'Components for the OpenAPI document of a service behind the gateway. Refer to them from your operations: `ActingTenant` in their parameters, `apiKey` in their security, the responses besides your own.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths: {},
    components: {
      securitySchemes: { apiKey: { ...securitySchemes.apiKey, description: anyKey } },
      parameters: { ActingTenant: actingTenant },
      headers: {
        RequestId: responseHeaders['RequestId'],
        ResolvedTenant: {
          ...responseHeaders['ResolvedTenant'],
          description: 'The account that the request operated on.',
        },
        WwwAuthenticate: responseHeaders['WwwAuthenticate'],
        RetryAfter: responseHeaders['RetryAfter'],
      },
      schemas: { Problem: problem },
      responses: problems.responses,
      examples: problems.examples,
    },
  };
}

const anyKey =
  'An API key of a parent account or of a sub-account. The operator configures which scopes a route needs.';

const actingTenant: Json = {
  name: 'X-Service-Acting-Tenant',
  in: 'header',
  description:
    'The account that the request operates on: `self`, the UUID of a sub-account, or `ext:` and its external_id. While the account has an active sub-account, parent keys must send it with POST, PUT, PATCH and DELETE. Without it, GET, HEAD and OPTIONS operate on the caller itself. Keys of sub-accounts always act as themselves and need not send it.',
  schema: { type: 'string', maxLength: 259, pattern: `^(self|${uuid}|ext:[!-+\\--~]{1,255})$` },
  examples: {
    self: { summary: 'The caller itself', value: 'self' },
    external: { summary: 'A sub-account by the parent’s own name for it', value: 'ext:ada' },
    id: { summary: 'A sub-account by its id', value: '0197b7e1-0f52-7c44-8a90-7b1d3c5e9f02' },
  },
};
