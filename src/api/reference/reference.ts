import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import { staticFile, type StaticFile } from '../../http/static-files.ts';
import { fileHandler } from '../../http/static-page.ts';
import { described, type Named } from './described.ts';
import { pageOf, pagePolicy } from './page.ts';
import type { Described } from './operation-index.ts';

/**
 * Public paths of the API reference, relative to the prefix of each API. `claimPrefix` handles methods other than GET
 * and HEAD.
 */
export const referencePaths: readonly string[] = ['/openapi.json', '/docs'];

type ReferenceOptions = Pick<Config, 'headers' | 'authentication' | 'keys' | 'problems' | 'reference'>;

/** Plugin that serves the API reference of `/v1/sub-accounts`. Register it under that prefix. */
export function parentReference(app: FastifyInstance, config: ReferenceOptions, done: () => void): void {
  serve(app, 'sub-accounts', config, config.reference.title);
  done();
}

/** Plugin that serves the API reference of the operator API. Register it under that API's prefix. */
export function operatorReference(app: FastifyInstance, config: ReferenceOptions, done: () => void): void {
  serve(app, 'operator', config, null);
  done();
}

/** Serves a document and its HTML page. `npm run generate` generates the document from the routes' schemas. */
function serve(app: FastifyInstance, name: string, config: ReferenceOptions, title: string | null): void {
  const file = new URL(`../../generated/${name}.json`, import.meta.url);
  const names: Named = {
    headerPrefix: config.headers.prefix,
    schemes: config.authentication.schemes,
    apiKeyHeaders: config.headers.apiKey,
    keyPrefix: config.keys.prefix,
    typeBase: config.problems.typeBase,
    title,
  };
  // Made when it is asked for: it takes milliseconds, and every reload would pay.
  const document = (): string => described(readFileSync(file, 'utf8'), names);
  const json = (): StaticFile => staticFile('openapi.json', 'application/json; charset=utf-8', document());
  const page = (): StaticFile =>
    staticFile('docs', 'text/html; charset=utf-8', pageOf(JSON.parse(document()) as Described));
  const headers = { 'x-content-type-options': 'nosniff' };
  app.get('/openapi.json', fileHandler(json, headers));
  app.get(
    '/docs',
    fileHandler(page, {
      ...headers,
      'referrer-policy': 'no-referrer',
      'content-security-policy': pagePolicy,
    }),
  );
}
