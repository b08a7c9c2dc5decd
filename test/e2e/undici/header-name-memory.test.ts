// class: night
/** What header names cost in memory, where @fastify/http-proxy forwards. */
process.env['TEST_UPSTREAM_CLIENT'] = 'undici';
await import('../../security/header-name-memory.test.ts');
