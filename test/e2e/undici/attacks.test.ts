// class: hostile
/** Every attack of test/security/, against routes that @fastify/http-proxy forwards; memory is measured in a file of its own. */
process.env['TEST_UPSTREAM_CLIENT'] = 'undici';
const { readdirSync } = await import('node:fs');

/** Files that have a process to themselves: what other files load and leave behind would be measured, too. */
const alone = ['guard-mutations', 'header-name-memory'];
const folder = new URL('../../security/', import.meta.url);
for (const file of readdirSync(folder).sort()) {
  if (!file.endsWith('.test.ts') || alone.some((name) => file.startsWith(name))) continue;
  await import(new URL(file, folder).href);
}
