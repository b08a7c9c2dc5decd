// class: pure
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { Type } from 'typebox';
import { installErrorReplies } from '../../src/http/errors.ts';
import { installJsonBodies } from '../../src/api/rest/json-body.ts';
import { closed, nullableText, type TypeBoxProvider } from '../../src/api/rest/typebox.ts';
import { schemaController } from '../../src/http/schemas.ts';
import { httpClient } from '../support/http-client.ts';

t.test('a schema is compiled when its first request comes, and once for all applications', async (t) => {
  const made = t.capture(globalThis, 'Function', Function as never);
  // The first parameter of a function that ajv makes, and of one that fast-json-stringify makes.
  const compiled = () =>
    made().flatMap(({ args: [first] }) => (/^(?:self|validator)$/.test(String(first)) ? [first] : []));
  for (const expected of [['self', 'self', 'validator'], []]) {
    const call = await start(t);
    t.same(compiled(), [], 'a start or a reload is not stalled by all of them');
    t.equal((await call('POST', '/?n=1', { body: { text: 'a' } })).status, 200);
    t.same(compiled(), expected, 'its body, its query and its response');
  }
});

t.test('each fault is named in words, with a pointer to it', async (t) => {
  const call = await start(t);
  const faults = async (body: unknown, query = '') => {
    const response = await call('POST', `/${query}`, { body });
    return (response.body['errors'] as { pointer: string; detail: string }[]).map(
      ({ pointer, detail }) => `${pointer} ${detail}`,
    );
  };
  t.same(await faults({}), ['/text is required.']);
  t.same(await faults({ text: 'toolong' }), ['/text must have 5 or fewer characters.']);
  t.same(await faults({ text: '' }), ['/text must have 1 or more characters.']);
  t.same(await faults({ text: 5 }), ['/text must be a string.']);
  t.same(await faults({ text: 'a', code: 'b' }), ['/code must be two capitals.']);
  t.same(await faults({ text: 'a', code: [] }), ['/code must be a string or null.']);
  t.same(await faults({ text: 'a', list: ['a', 'a', 'b'] }), [
    '/list must have 2 or fewer elements.',
    '/list must not hold anything twice.',
  ]);
  t.same(await faults({ text: 'a', gone: 1 }), ['/gone was taken away.']);
  t.same(await faults({ text: 'a', 'a/b': 1 }), ['/a~1b is not a field of this request.']);
  t.same(await faults({ text: 'a', txt: 1, Code: 'AB' }), [
    '/txt is not a field of this request. Did you mean `text`?',
    '/Code is not a field of this request. Did you mean `code`?',
  ]);
  t.same(await faults([]), [' must be an object.']);
  t.same(await faults({ text: 'a' }, '?n=0'), ['?n must be 1 or more.']);
  t.same(await faults({ text: 'a' }, '?n=x'), ['?n must be an integer.']);
  t.same(await faults({ text: 'a' }, '?m=1'), ['?m is not a parameter of this operation.']);
});

t.test('values are taken as they are: nothing is coerced in a body, filled in or dropped', async (t) => {
  const call = await start(t);
  t.same(
    (await call('POST', '/?n=7', { body: { text: 'a', code: null } })).text,
    '{"got":{"text":"a","code":null},"n":7}',
  );
  for (const body of [{ text: true }, { text: 'a', list: 'a' }, { text: 'a', list: [5] }]) {
    t.equal((await call('POST', '/', { body })).status, 400, JSON.stringify(body));
  }
});

t.test('a response names few faults and short pointers, however many there are', async (t) => {
  const call = await start(t);
  const body = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`${i}${'k'.repeat(500)}`, 0]));
  const response = await call('POST', '/', { body });
  const errors = response.body['errors'] as { pointer: string }[];
  t.equal(errors.length, 20);
  t.ok(errors.every(({ pointer }) => pointer.length < 300));
  t.match(response.body['detail'], /901 faults/);
});

t.test('values that were sent are never repeated', async (t) => {
  const call = await start(t);
  const secret = 'tgw_secret';
  for (const body of [{ text: secret }, { text: 'a', code: secret }, { text: 'a', list: [secret, secret] }]) {
    const { text, status } = await call('POST', '/', { body });
    t.equal(status, 400);
    t.notMatch(text, secret);
  }
});

async function start(t: Test) {
  const app = Fastify({ schemaController });
  t.teardown(() => app.close());
  installErrorReplies(app);
  installJsonBodies(app, { managementBodyBytes: 1_000_000, bodyIdleMs: 60_000, minBodyBytesPerMinute: 0 });
  app.withTypeProvider<TypeBoxProvider>().post(
    '/',
    {
      schema: {
        querystring: closed({ n: Type.Optional(Type.Integer({ minimum: 1 })) }),
        body: closed({
          text: Type.String({ minLength: 1, maxLength: 5 }),
          code: Type.Optional(nullableText({ pattern: '^[A-Z]{2}$', description: 'two capitals' })),
          list: Type.Optional(Type.Array(Type.String(), { maxItems: 2, uniqueItems: true })),
          gone: Type.Optional(Type.Unsafe<never>({ not: {}, description: 'was taken away.' })),
        }),
        response: { 200: closed({ got: Type.Unknown(), n: Type.Unknown() }) },
      },
    },
    (request) => ({ got: request.body, n: request.query.n ?? null }),
  );
  return httpClient(t, await app.listen({ host: '127.0.0.1', port: 0 }));
}
