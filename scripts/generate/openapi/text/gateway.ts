import type { Subject } from '../types.ts';
import { version } from '../version.ts';

/** Replicas and the version of the gateway, and sessions of operators. */
export const gateway: Subject = {
  operators: {
    operations: {
      'GET /admin/v1/replicas': {
        id: 'listReplicas',
        tag: 'This gateway',
        summary: 'List the replicas',
        description:
          'Every replica with the position that it decides by, the state of its lease, and the figures that it reports about itself every five seconds.',
        responses: { 200: ['ReplicaList', 'The replicas.'] },
      },
      'GET /admin/v1/live': {
        id: 'watchRequests',
        tag: 'This gateway',
        summary: 'Watch requests',
        description:
          'Streams finished requests to the public listeners of all replicas as Server-Sent Events, about a second after they end. The data of each message has `at`, `replica_id`, `request_id`, `method`, `path` (without its query), `route`, `status`, `code`, `ms`, `account_id` (of the caller), `parent_id` (of a sub-account), `resolved_tenant` and `api_key_id`; members that do not apply are `null`. `account_id` in the query selects the requests of an account and of its sub-accounts, and those that acted as it.\n\nAn event `state` at the beginning, and whenever it changes, has `replicas` (the ids of those that the stream speaks for; a tail reaches all within five seconds), `sampled` (whether requests were left out in the last seconds), `dropped` (how many since the beginning) and `open`, what these replicas have open now of the account or key: `requests` whose response has not begun, and `streams` (WebSockets, and responses that have begun and not ended). `open` changes at most twice a second; `code` does not narrow it. A replica shows at most 50 requests a second.\n\nThe stream ends when the token or session does, and when the replica shuts down or cannot reach the database. A browser then asks again by itself. At most 8 streams are open over all replicas.',
        responses: { 200: [null, 'The stream.'] },
        headers: ['NoStore', 'NoBuffering'],
        problems: ['limit_reached'],
        events: true,
      },
      'GET /admin/v1/whoami': {
        id: 'whoami',
        tag: 'This gateway',
        summary: 'Get the operator of the token',
        description:
          'The name and role of the operator, the session if the call carries its cookie, and the version and replica of the gateway. With a token the call needs no database.',
        responses: { 200: ['Operator', 'Operator and gateway.'] },
        headers: ['NoStore'],
      },
      'POST /admin/v1/session': {
        id: 'beginSession',
        tag: 'This gateway',
        summary: 'Sign in',
        description:
          'Begins a session for a browser: `Set-Cookie` has its secret, in a cookie that scripts cannot read and other sites cannot send. The session has the role of the token. It lasts 8 hours, or until the operator signs out, on every replica; a replica whose tokens no longer have this one does not take it. Calls then need no `Authorization`; those that change something need `X-CSRF-Token`.',
        responses: { 200: ['OperatorSession', 'The session.'] },
        headers: ['NoStore', 'SessionCookie'],
        noIdempotency: true,
      },
      'DELETE /admin/v1/session': {
        id: 'endSession',
        tag: 'This gateway',
        summary: 'Sign out',
        description:
          'Ends the session whose cookie the call carries, on every replica, and removes the cookie. A call without a session changes nothing.',
        responses: { 204: [null, 'The session has ended.'] },
        headers: ['NoStore', 'SessionCookie'],
      },
    },
    examples: {
      OperatorSession: {
        operator: 'alice',
        role: 'admin',
        csrf_token: 'n5b2vC0m3E1zvGq9y2rLQ1bq0zq3f4W1dC2y8xkJ9pI',
        expires_at: '2026-03-01T17:30:00.000Z',
      },
      ReplicaList: {
        position: 42,
        incarnation: '7412345678901234567:1:0',
        complete: true,
        data: [
          {
            id: '5f6d2f0e-52b5-4f0e-9a59-0b7f6e2f9a10',
            host: 'gateway-0',
            self: true,
            state: 'live',
            version,
            lease_ms: 3000,
            lease_age_ms: 412,
            clock_offset_ms: 3,
            applied: 42,
            lag: 0,
            figures: {
              reported_at: '2026-03-01T09:30:00.000Z',
              ready: true,
              unready: [],
              requests_per_second: 412.5,
              refusals: [{ code: 'rate_limited', count: 31 }],
              p50_ms: 3.12,
              p99_ms: 41.7,
              open_streams: 12,
              open_connections: 180,
              rss_bytes: 183_500_800,
              redis: 'up',
              certificate_expires_at: '2026-05-30T00:00:00.000Z',
            },
          },
        ],
        silent: [
          {
            id: '0d0f4a52-53a4-4b39-a5f7-1de7a1a4c0f9',
            host: 'gateway-1',
            last_seen: '2026-03-01T09:30:00.000Z',
            through: '2026-03-01T09:29:58.000Z',
            given_up: false,
          },
        ],
      },
      Operator: {
        operator: 'operator',
        role: 'admin',
        version,
        replica_id: '5f6d2f0e-52b5-4f0e-9a59-0b7f6e2f9a10',
        session: null,
      },
    },
  },
  schemas: {
    CurrentSession: 'The session that a call was made with.',
    OperatorSession: 'The session of an operator who signed in.',
    Operator: 'The operator and the role, and the version and replica of the gateway.',
    Refusals: 'Requests that a replica rejected for one reason.',
    Replica: 'One replica of the gateway.',
    ReplicaFigures: 'Figures that a replica reports about itself.',
    ReplicaList: 'The replicas of the gateway.',
    SilentReplica:
      'A replica that fell silent without a regular stop, so that its usage counts may be missing.',
  },
  inner: {
    'Operator/properties/session/anyOf/0': 'CurrentSession',
    'ReplicaList/properties/data/items': 'Replica',
    'ReplicaList/properties/silent/items': 'SilentReplica',
    'Replica/properties/figures/anyOf/0': 'ReplicaFigures',
    'ReplicaFigures/properties/refusals/items': 'Refusals',
  },
  members: {
    'OperatorSession.expires_at': 'When the session ends by itself.',
    'CurrentSession.expires_at': 'When the session ends by itself.',
    'Operator.session':
      'The session of a call that carries its cookie; `null` if the call was made with a token.',
    csrf_token: 'The value that calls of the session send as `X-CSRF-Token` if they change something.',
    'ReplicaList.silent':
      'Replicas that fell silent without a regular stop. Reports lack their usage counts, and wait for them until they are given up.',
    'SilentReplica.through': 'The report has all of its counts from before this time.',
    'Replica.figures':
      'Figures that the replica reported within the last minute; `null` if there are none, as for a replica of an earlier version.',
    'Refusals.code':
      'The code of the problem, or why a request ended early (`client_gone`, `cut_by_upstream`, `withdrawn`), as in the metric `refusals_total`.',
    'Refusals.count': 'How many requests it rejected so.',
    certificate_expires_at: 'When the certificate of the public listener expires; `null` without TLS.',
    open_connections: 'Open connections to the public listener.',
    open_streams: 'Open WebSockets, and responses that have begun and not ended.',
    p50_ms:
      'Median duration of proxied requests in the last minute, in milliseconds, without WebSockets. It is estimated from the histogram in `/metrics`, which ends at 30 seconds. `null` if there were no requests.',
    p99_ms: 'The duration that 99 of 100 of these requests did not exceed.',
    ready: 'Whether it can decide about requests, as `/readyz` says.',
    redis: 'Whether it can use Redis; `off` if none is configured.',
    refusals:
      'Requests that it rejected in the last minute, by code: at most 20 codes, the most frequent first.',
    reported_at: "When it reported these figures, by the database's clock.",
    'ReplicaFigures.requests_per_second': 'Requests to the public listener a second, over the last minute.',
    rss_bytes: 'Resident memory of its process.',
    unready: 'The reasons why it is not ready, as `/readyz` has them.',
    'query.api_key_id': 'Only requests with this key.',
    'query.code': 'Only requests with this code.',
    applied: 'The position of the newest change that the replica decides by.',
    clock_offset_ms:
      "How many milliseconds its wall clock is ahead of the database's. Keys expire by the database's clock. `null` for a replica of an earlier version.",
    complete:
      'Whether the list is complete. After a restore, leases may still run that the list does not show.',
    given_up: 'Whether reports no longer wait for it.',
    host: 'The machine that it runs on.',
    incarnation: 'The name of this history of the database; a restored copy gets another one.',
    lag: 'How many positions it is behind.',
    last_seen: 'When it was last heard of.',
    lease_age_ms: 'Milliseconds since its lease began.',
    lease_ms: 'How many milliseconds a lease lasts.',
    operator: 'The name of the operator whose token it is.',
    position: 'The position of the newest change.',
    replica_id: 'The replica that responds; `null` while it is not registered.',
    role: 'The role of the operator.',
    self: 'Whether this replica sent the response.',
    state:
      '`live`; `leaving` while it shuts down; `lapsed` once its lease has run out. A lapsed replica decides nothing.',
    version: 'Its version.',
  },
};
