// class: pure
import Fastify from 'fastify';
import { METHODS } from 'node:http';
import t from 'tap';
import { claimPrefix } from '../../../src/api/rest/claim-prefix.ts';
import { installErrorReplies, replyToError } from '../../../src/http/errors.ts';
import { routerOptions } from '../../../src/http/router-options.ts';
import { httpClient } from '../../support/http-client.ts';

const methods = METHODS.filter((method) => method !== 'CONNECT');

t.test('nothing under a claimed prefix falls to the catch-all beside it, whatever the method', async (t) => {
  const app = Fastify({ frameworkErrors: replyToError, routerOptions });
  t.teardown(() => app.close());
  installErrorReplies(app);
  const [hooked, added]: [string[], string[]] = [[], []];
  app.register(
    (owner, _options, done) => {
      owner.addHook('onRequest', (request, _reply, next) => {
        hooked.push(`${request.method} ${request.url}`);
        next();
      });
      claimPrefix(owner, () => {
        owner.get('', () => 'list');
        owner.post('', () => 'create');
        owner.get('/static', () => 'static');
        owner.patch('/:id', () => 'update');
        owner.get('/:id/parts/:part', () => 'part');
        owner.addHook('onRoute', ({ routePath }) => void added.push(routePath));
      });
      done();
    },
    { prefix: '/v1/things' },
  );
  app.register((proxy, _options, done) => {
    proxy.all('/*', () => 'PROXIED');
    done();
  });
  const call = httpClient(t, await app.listen({ port: 0, host: '127.0.0.1' }));

  const paths: [string, string[]][] = [
    ['/v1/things', ['GET', 'HEAD', 'POST']],
    ['/v1/things?a=b', ['GET', 'HEAD', 'POST']],
    ['/v1/things/static', ['GET', 'HEAD']],
    ['/v1/things/1', ['PATCH']],
    ['/v1/things/', []],
    ['/v1/things//', []],
    ['/v1/things/static/', []],
    ['/v1/things/1/2', []],
    ['/v1/things/1/parts', []],
    ['/v1/things/1/parts/', []],
    ['/v1/things/1/parts/2', ['GET', 'HEAD']],
    ['/v1/things/1/parts/2/', []],
    ['/v1/things/1/2/3?x', []],
    [`/v1/things/${'x'.repeat(5000)}`, ['PATCH']],
  ];
  const wrong: string[] = [];
  for (const [path, served] of paths) {
    for (const method of methods) {
      hooked.length = 0;
      const { status, text, headers } = await call(method, path);
      const expected = served.includes(method) ? 200 : served.length > 0 ? 405 : 404;
      const right =
        status === expected &&
        (status !== 405 || headers.allow === served.join(', ')) &&
        text !== 'PROXIED' &&
        hooked.join() === `${method} ${path}`;
      if (!right) wrong.push(`${method} ${path.slice(0, 40)}: ${status} ${text}, hooks: ${hooked.join()}`);
    }
  }
  t.same(wrong, []);
  t.same(added, ['', '/*'], 'two more routes: one for each path would stall a reload');
  t.equal((await call('GET', '/v1/thing')).text, 'PROXIED', 'the control');
  t.equal((await call('GET', '/v1/things-else')).text, 'PROXIED');
});
