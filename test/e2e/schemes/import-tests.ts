import { readdirSync } from 'node:fs';

/** Files of test/security/ that are about heads and paths. Those about memory, time and crowding never look at a key. */
const attacks = [
  'absolute-form',
  'api-key-header-variants',
  'connection-strips-trusted-header',
  'error-body-leak',
  'forwarded-spoofing',
  'header-count',
  'header-size',
  'method-override',
  'path-confusion',
  'path-invisibles',
  'path-letters',
  'repeated-acting-header',
  'request-smuggling',
  'rewritten-path',
  'trailers',
  'underscore-dot-variants',
  'underscore-headers',
  'upgrade-headers',
  'upgrade-path',
];

/** Imports the tests, once the environment says how this run sends keys. */
export async function importTests(): Promise<void> {
  const spec = new URL('../../spec/', import.meta.url);
  for (const file of readdirSync(spec).sort()) await import(new URL(file, spec).href);
  for (const attack of attacks)
    await import(new URL(`../../security/${attack}.test.ts`, import.meta.url).href);
}
