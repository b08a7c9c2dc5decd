/** Every attack of test/security/, against routes that @fastify/http-proxy forwards. */
process.env['TEST_UPSTREAM_CLIENT'] = 'undici';
const { readdirSync } = await import('node:fs');

const folder = new URL('../../security/', import.meta.url);
for (const file of readdirSync(folder).sort()) {
  if (!file.endsWith('.test.ts') || file.startsWith('guard-mutations')) continue;
  await import(new URL(file, folder).href);
}
