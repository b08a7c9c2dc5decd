// class: hostile
/** Where the clients differ, heads, bodies and their framing, attacks against routes that @fastify/http-proxy forwards. */
process.env['TEST_UPSTREAM_CLIENT'] = 'undici';
const { importAttacks } = await import('./import-attacks.ts');

const attacks = [
  'connection-strips-trusted-header',
  'error-body-leak',
  'expect-continue',
  'forwarded-spoofing',
  'header-count',
  'header-size',
  'hop-by-hop-from-upstream',
  'http-pipelining',
  'limit-said-by-upstream',
  'method-override',
  'poisoned-connection',
  'request-smuggling',
  'response-splitting-by-upstream',
  'retry-on-503',
  'rewritten-path',
  'tiny-chunks',
  'tls-unverified',
  'trailers',
  'underscore-headers',
];
await importAttacks((attack) => attacks.includes(attack));
