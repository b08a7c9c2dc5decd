// class: night
/** Every attack of test/security/, against routes that @fastify/http-proxy forwards; memory is measured in a file of its own. */
process.env['TEST_UPSTREAM_CLIENT'] = 'undici';
const { importAttacks } = await import('./import-attacks.ts');
await importAttacks();
