import { Type } from 'typebox';
import { integer, section } from './setting-types.ts';

export const limits = section('Limits of one client, one tenant or one process.', {
  max_headers: integer('Most headers of a request; more get 431.', {
    minimum: 20,
    maximum: 10_000,
    default: 100,
  }),
  max_header_bytes: integer("Largest size of a request's headers; larger ones get 431.", {
    minimum: 2_048,
    maximum: 1_048_576,
    default: 16_384,
  }),
  head_timeout_ms: integer(
    'Time a client has for its TLS handshake, and then to send its request line and headers.',
    {
      minimum: 100,
      maximum: 600_000,
      default: 15_000,
    },
  ),
  body_idle_ms: integer(
    'Longest pause of a client in the middle of a body, of proxied requests and of calls of both APIs.',
    {
      minimum: 100,
      maximum: 3_600_000,
      default: 60_000,
    },
  ),
  min_body_bytes_per_minute: integer(
    'Slowest transfer of a body while the gateway waits for the client, in bytes per minute, of proxied requests and of calls of both APIs. A slower upload gets 408, a slower download is cut. 0 turns this off, for clients that send a few bytes now and then in one long request.',
    { minimum: 0, maximum: 1_000_000_000, default: 6_000 },
  ),
  keep_alive_ms: integer(
    'How long an idle client connection stays open. It must be longer than the same setting of a load balancer in front, or requests are lost.',
    { minimum: 0, maximum: 3_600_000, default: 75_000 },
  ),
  management_body_bytes: integer(
    'Largest body of a management call; larger ones get 413. Proxied bodies are not limited.',
    { minimum: 1_024, maximum: 16_777_216, default: 131_072 },
  ),
  max_connections: integer('Most open client connections, divided among client networks.', {
    minimum: 1,
    maximum: 10_000_000,
    default: 10_000,
  }),
  in_flight_per_tenant: integer(
    'Most requests of one tenant in flight in this process; more get 429. A tenant gets at most half of `max_connections`, a parent with all its sub-accounts at most three quarters.',
    {
      minimum: 1,
      maximum: 10_000_000,
      default: 1_000,
    },
  ),
  changes_per_second: integer(
    "Changes a second of one parent in this process, counting those that every replica must confirm (those that get a receipt). Five times as many changes of all kinds are allowed. Ten seconds' worth may come at once; more get 429. Changes that only take rights away (revoke, deactivate, DELETE, rotate without overlap) count by themselves, for each key. 0 turns the limits off. Operators have none.",
    { minimum: 0, maximum: 1_000_000, default: 20 },
  ),
  reads_per_second: integer(
    "Reads under `/v1/sub-accounts` a second of one parent in this process. Ten seconds' worth may come at once; more get 429. 0 turns the limit off. Operators have no limit.",
    { minimum: 0, maximum: 1_000_000, default: 50 },
  ),
  answer_ms: integer(
    "How long a request waits for the database's answer about a quota (days, months, units) before this process guesses from its own share. A change needs a restart.",
    { minimum: 25, maximum: 10_000, default: 1_000 },
  ),
  sub_accounts_per_parent: integer('Most sub-accounts of a parent, deactivated ones included.', {
    minimum: 1,
    maximum: 100_000_000,
    default: 10_000,
  }),
  keys_per_account: integer('Most API keys of an account that can still be used.', {
    minimum: 1,
    maximum: 1_000_000,
    default: 1_000,
  }),
  max_event_loop_delay_ms: integer(
    'Event-loop delay, or wait for a turn, above which requests are shed with 503; 0 turns this off.',
    { minimum: 0, maximum: 600_000, default: 1_000 },
  ),
  max_heap_bytes: Type.Optional(
    integer(
      'Heap size above which requests are shed with 503; 0 turns this off. Left out: 85 % of what Node.js allows the process. Requests are also shed while the heap and buffers outside it exceed this size and 70 % of the memory of the container or machine.',
      { minimum: 0 },
    ),
  ),
});
