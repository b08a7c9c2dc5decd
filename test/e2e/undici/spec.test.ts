// class: night
/** The suite of the spec, the table of acting rules included, against routes that @fastify/http-proxy forwards. */
process.env['TEST_UPSTREAM_CLIENT'] = 'undici';
const { readdirSync } = await import('node:fs');

const folder = new URL('../../spec/', import.meta.url);
for (const file of readdirSync(folder).sort()) await import(new URL(file, folder).href);
