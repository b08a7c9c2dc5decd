// class: pure
import Fastify, { type FastifyInstance } from 'fastify';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { catalogue, ProblemError, type ProblemCode } from '../../src/domain/problem.ts';
import { installErrorReplies, replyToError } from '../../src/http/errors.ts';
import { httpClient } from '../support/http-client.ts';

t.test('a rejection is a problem document with everything that belongs to it', async (t) => {
  const { call } = await start(t, (app) => {
    app.get('/rejected', () => {
      throw new ProblemError({
        code: 'method_not_allowed',
        detail: 'What to do.',
        allow: ['GET', 'HEAD'],
        errors: [{ pointer: '/a', detail: 'b' }],
        retryAfter: 3,
        extra: { scope: 's' },
      });
    });
  });
  const response = await call('GET', '/rejected?secret=1');
  t.equal(response.status, 405);
  t.match(response.headers, {
    'content-type': /^application\/problem\+json$/,
    'x-request-id': /./,
    allow: 'GET, HEAD',
    'retry-after': '3',
  });
  t.same(response.body, {
    type: 'urn:tenancy-gateway:problem:method_not_allowed',
    title: catalogue.method_not_allowed.title,
    status: 405,
    detail: 'What to do.',
    instance: '/rejected',
    code: 'method_not_allowed',
    request_id: response.headers['x-request-id'],
    errors: [{ pointer: '/a', detail: 'b' }],
    scope: 's',
  });
});

t.test('every code gets its status, every 401 also WWW-Authenticate', async (t) => {
  const { call } = await start(t, (app) => {
    app.get('/:code', (request) => {
      throw new ProblemError({ code: (request.params as { code: ProblemCode }).code, detail: 'd' });
    });
  });
  for (const [code, { status, title }] of Object.entries(catalogue)) {
    const response = await call('GET', `/${code}`);
    t.match(response, { status, body: { code, title, status } });
    t.equal(response.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
  }
});

t.test('an unforeseen error tells the client nothing and the log everything', async (t) => {
  const { call, logged } = await start(t, (app) => {
    app.get('/thrown', () => {
      throw Object.assign(new Error('SECRET host 10.0.0.5'), {
        statusCode: 418,
        headers: { 'x-leak': 'SECRET' },
      });
    });
    app.get('/rejected', () => Promise.reject(new TypeError('SECRET')));
    app.get('/late', async () => {
      await Promise.resolve();
      throw new Error('SECRET');
    });
    app.get('/hook', { onRequest: (_request, _reply, done) => done(new Error('SECRET')) }, () => 'never');
    app.get('/cause', () => {
      throw new ProblemError(
        { code: 'unavailable', detail: 'Later.', retryAfter: 1 },
        { cause: new Error('SECRET') },
      );
    });
  });
  for (const path of ['/thrown', '/rejected', '/late', '/hook', '/cause']) {
    logged.length = 0;
    const response = await call('GET', path);
    t.equal(response.status, path === '/cause' ? 503 : 500, path);
    t.notMatch(response.text + JSON.stringify(response.headers), /SECRET/, path);
    t.match(logged.join(''), /SECRET/, path);
    t.match(logged.join(''), new RegExp(String(response.headers['x-request-id'])), path);
  }
});

t.test('what Fastify rejects on its own is a problem, too', async (t) => {
  const { call } = await start(t, (app) => {
    app.post('/', { bodyLimit: 10 }, () => 'never');
    app.get('/:id', () => 'never');
  });
  const json = { 'content-type': 'application/json' };
  for (const [method, path, options, status, code] of [
    ['GET', '/no/such/path', {}, 404, 'not_found'],
    ['GET', '/%zz', {}, 400, 'invalid_target'],
    ['POST', '/', { headers: json, body: '{' }, 400, 'invalid_request'],
    ['POST', '/', { headers: json, body: '' }, 400, 'invalid_request'],
    ['POST', '/', { headers: json, body: '0123456789A' }, 413, 'payload_too_large'],
    ['POST', '/', { headers: { 'content-type': 'image/png' }, body: 'x' }, 415, 'unsupported_media_type'],
  ] as const)
    t.match(await call(method, path, options), { status, body: { code } }, code);
});

t.test('a client that is rejected with a long body still on its way is told to close', async (t) => {
  const { call, origin } = await start(t, (app) => {
    app.post('/', {
      onRequest: (_request, _reply, done) => done(new ProblemError({ code: 'unauthenticated', detail: 'd' })),
      handler: () => 'never',
    });
  });
  const short = await call('POST', '/', { body: { a: 1 } });
  t.equal(short.headers.connection, 'keep-alive');

  const port = Number(new URL(origin).port);
  for (const framing of [
    'Content-Length: 1000000',
    'Transfer-Encoding: chunked',
    `Content-Length: ${'9'.repeat(15)}`,
  ]) {
    const socket = connect(port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`);
    // Resolves when the server has closed the connection, without having got the body.
    t.match(await text(socket), /^HTTP\/1\.1 401 [^]*connection: close/i, framing);
  }
});

async function start(t: Test, routes: (app: FastifyInstance) => void) {
  const logged: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      logged.push(String(chunk));
      done();
    },
  });
  const app = Fastify({ logger: { stream }, frameworkErrors: replyToError });
  installErrorReplies(app);
  routes(app);
  t.teardown(() => app.close());
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  return { call: httpClient(t, origin), logged, origin };
}
