import { Type } from 'typebox';
import { integer, section } from './keys.ts';

/** What one client, one tenant or one process may take. */
export const limits = section('What one client, one tenant or one process may take.', {
  max_headers: integer('Headers of a request at most; a request with more gets 431.', {
    minimum: 20,
    maximum: 10_000,
    default: 100,
  }),
  max_header_bytes: integer("Size of a request's headers at most; a request with larger ones gets 431.", {
    minimum: 2_048,
    maximum: 1_048_576,
    default: 16_384,
  }),
  head_timeout_ms: integer('Time a client has to send its request line and headers.', {
    minimum: 100,
    maximum: 600_000,
    default: 15_000,
  }),
  body_idle_ms: integer('Longest silence of a client in the middle of a body.', {
    minimum: 100,
    maximum: 3_600_000,
    default: 60_000,
  }),
  keep_alive_ms: integer(
    'How long an idle client connection stays open. Longer than the same setting of a load balancer in front, or requests are lost.',
    { minimum: 0, maximum: 3_600_000, default: 75_000 },
  ),
  management_body_bytes: integer(
    'Body of a management call at most; a larger one gets 413. Proxied bodies are not limited.',
    { minimum: 1_024, maximum: 16_777_216, default: 131_072 },
  ),
  max_connections: integer('Open client connections at most; more are closed at once.', {
    minimum: 1,
    maximum: 10_000_000,
    default: 10_000,
  }),
  in_flight_per_tenant: integer('Requests of one tenant at a time in this process; more get 429.', {
    minimum: 1,
    maximum: 10_000_000,
    default: 1_000,
  }),
  changes_per_second: integer(
    "Changes of one parent that every replica must hear of (those that get a receipt), in this process; ten seconds' worth may come at once, more get 429. 0 turns that off. Operators have no limit.",
    { minimum: 0, maximum: 1_000_000, default: 20 },
  ),
  sub_accounts_per_parent: integer('Sub-accounts of a parent at most, deactivated ones included.', {
    minimum: 1,
    maximum: 100_000_000,
    default: 10_000,
  }),
  keys_per_account: integer('API keys of an account at most, those that can still be used.', {
    minimum: 1,
    maximum: 1_000_000,
    default: 1_000,
  }),
  max_event_loop_delay_ms: integer(
    'Delay of the event loop above which requests are shed with 503; 0 turns that off.',
    { minimum: 0, maximum: 600_000, default: 1_000 },
  ),
  max_heap_bytes: Type.Optional(
    integer(
      'Heap above which requests are shed with 503; 0 turns that off. Left out: 85 % of what Node.js allows the process.',
      { minimum: 0 },
    ),
  ),
});
