import type { Json } from './types.ts';

/** Headers of responses, by the names of their components. */
export const responseHeaders: Readonly<Record<string, Json>> = {
  RequestId: {
    description: 'The id of the request in the operator’s logs. Quote it to support.',
    required: true,
    schema: { type: 'string' },
    example: '9f86d081884c7d659a2feaa0c55ad015',
  },
  ResolvedTenant: {
    description: 'The account that the request operated on. On these endpoints it is the calling account.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: '0197b7e0-4c9d-7a31-9d6e-2f6b8f7a1c11',
  },
  Enforced: {
    description:
      'The receipt of a change that the response waited for: how many replicas confirmed it, and how many milliseconds that took. `unheard` counts replicas whose leases had to run out, `streams` the exchanges that were closed. Absent if no replica can hold an outdated fact.',
    schema: { type: 'string', pattern: '^replicas=\\d+; ms=\\d+(; unheard=\\d+)?(; streams=\\d+)?$' },
    example: 'replicas=3; ms=4',
  },
  Replayed: {
    description:
      'The response reports what an earlier request with the same `Idempotency-Key` made; absent otherwise.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  NoStore: {
    description: 'The response holds secrets, or is a stream.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
    example: 'no-store',
  },
  NoBuffering: {
    description: 'nginx passes the events on as they come.',
    required: true,
    schema: { type: 'string', const: 'no' },
    example: 'no',
  },
  SessionCookie: {
    description: 'The secret of the session; after signing out an empty one, which the browser forgets.',
    required: true,
    schema: { type: 'string' },
    example: 'tenancy_gateway_session=Vn3…; Max-Age=28800; HttpOnly; SameSite=Strict',
  },
  VaryAccept: {
    description: 'The form of the report depends on `Accept`.',
    required: true,
    schema: { type: 'string', const: 'Accept' },
    example: 'Accept',
  },
  CsvName: {
    description: 'The name of the file; present if the report is CSV.',
    schema: { type: 'string' },
    example: 'attachment; filename="usage-2026-03-01-2026-04-01.csv"',
  },
  WwwAuthenticate: {
    description: 'How to authenticate.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
  RetryAfter: {
    description: 'Seconds after which to send the request again.',
    required: true,
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1',
  },
  RetryAfterInFlight: {
    description: 'Seconds after which to send the request again; with `idempotency_in_flight`.',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1',
  },
};

/** The names that headers are sent under, by those of their components. */
export const headerNamesByComponent: Readonly<Record<string, string>> = {
  Enforced: 'X-Service-Enforced',
  Replayed: 'Idempotency-Replayed',
  NoStore: 'Cache-Control',
  NoBuffering: 'X-Accel-Buffering',
  SessionCookie: 'Set-Cookie',
  VaryAccept: 'Vary',
  CsvName: 'Content-Disposition',
};

/** Headers of requests that operations share, by the names of their components. */
export const requestHeaders: Readonly<Record<string, Json>> = {
  ActingTenant: {
    name: 'X-Service-Acting-Tenant',
    in: 'header',
    description:
      'Optional here: these endpoints always act as the calling account, and the path names the sub-account. The only values are `self` and the account’s own UUID. If the operator has set `management.require_acting_header`, writes must send it while the account has an active sub-account.',
    schema: {
      type: 'string',
      pattern: '^(self|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})$',
    },
    example: 'self',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes it safe to send the request again: for 24 hours, the same request with the same key takes effect once. 1 to 255 visible ASCII characters, such as a random UUID.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]{1,255}$' },
    example: '6f1c2b7e-0d9a-4c1e-9b51-3a7d52e80f44',
  },
};
