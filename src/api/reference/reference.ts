import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import { described, type Named } from './described.ts';
import { pageOf, pagePolicy } from './page.ts';
import type { Described } from './places.ts';

/** Paths below each prefix that describe the API under it. They ask for no key; `claimPrefix` has their other methods. */
export const referencePaths: readonly string[] = ['/openapi.json', '/docs'];

type ReferenceOptions = Pick<Config, 'headers' | 'keys' | 'problems'>;

/** What describes the endpoints under `/v1/sub-accounts`; to be registered at that prefix. */
export function parentReference(app: FastifyInstance, config: ReferenceOptions, done: () => void): void {
  serve(app, 'sub-accounts', config);
  done();
}

/** What describes the operator API; to be registered at its prefix. */
export function operatorReference(app: FastifyInstance, config: ReferenceOptions, done: () => void): void {
  serve(app, 'operator', config);
  done();
}

/** `npm run generate` writes the documents, by the schemas of the routes. */
function serve(app: FastifyInstance, name: string, config: ReferenceOptions): void {
  const file = new URL(`documents/${name}.json`, import.meta.url);
  const names: Named = {
    headerPrefix: config.headers.prefix,
    apiKeyHeaders: config.headers.apiKey,
    keyPrefix: config.keys.prefix,
    typeBase: config.problems.typeBase,
  };
  const document = described(readFileSync(file, 'utf8'), names);
  app.get('/openapi.json', (_request, reply) =>
    reply
      .type('application/json; charset=utf-8')
      .headers({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' })
      .send(document),
  );
  let page: string | undefined;
  app.get('/docs', (_request, reply) => {
    // Most gateways are never asked for it.
    page ??= pageOf(JSON.parse(document) as Described);
    return reply
      .type('text/html; charset=utf-8')
      .headers({
        ...{
          'cache-control': 'no-cache',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
        },
        'content-security-policy': pagePolicy,
      })
      .send(page);
  });
}
