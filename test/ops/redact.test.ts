// class: pure
import t from 'tap';
import { describeError, redact } from '../../src/ops/redact.ts';

const key = 'tgw_0YzHNzcLGvuqI2WnXT8om15aTnQDlgoiK27LRHZ';

t.test('only known members of an error are told: drivers hang secrets on theirs', (t) => {
  const error = Object.assign(new Error('refused'), {
    code: 'ECONNREFUSED',
    command: { args: ['SECRET'] },
    query: 'select SECRET',
    parameters: ['SECRET'],
    input: 'SECRET',
  });
  const told = describeError(new Error('outer', { cause: error }));
  t.match(told, { type: 'Error', message: 'outer', cause: { message: 'refused', code: 'ECONNREFUSED' } });
  t.notMatch(JSON.stringify(told), 'SECRET');
  t.end();
});

t.test('keys, tokens and passwords in the text are blotted out, in message and stack', (t) => {
  const texts = [
    `no such key ${key}`,
    'a key with `keys.prefix` acme_0YzHNzcLGvuqI2WnXT8om15aTnQDlgoiK27LRHZ',
    'secret tgs_0YzHNzcLGvuqI2WnXT8om15aTnQDlgoiK27LRHZ.',
    'Authorization: Bearer hunter2',
    'Authorization: Basic hunter2',
    'Authorization: Token hunter2hunter2hunter2',
    'authorization: apikey hunter2hunter2hunter2',
    'cannot connect to postgres://user:hunter2@host:5432/db',
    'redis://:hunter2@host',
  ];
  for (const text of texts) {
    const told = JSON.stringify(describeError(new Error(text)));
    t.notMatch(told, /hunter2|0YzHNzcLGvuq/, text);
    t.match(told, /\[secret\]/);
  }
  t.equal(
    redact('GET /v1/things?x=1 failed: ECONNRESET 10.0.0.1:5432'),
    'GET /v1/things?x=1 failed: ECONNRESET 10.0.0.1:5432',
  );
  t.end();
});

t.test('a key in base64 is blotted out, wherever in it the key begins', (t) => {
  const secrets = [key, 'acme_0YzHNzcLGvuqI2WnXT8om15aTnQDlgoiK27LRHZ'];
  for (const secret of secrets)
    for (const text of [`${secret}:`, `:${secret}`, `a:${secret}`, `ab:${secret}`, `\xff?:${secret}`])
      for (const encoding of ['base64', 'base64url'] as const) {
        const encoded = Buffer.from(text, 'latin1').toString(encoding);
        for (const [before, behind] of [
          ['Basic ', ''],
          ['Basic%20', ''],
          ['{"authorization":"basic ', '"}'],
          ['invalid value x', ' in header'],
          ['', '\\r\\n'],
        ]) {
          const told = redact(`${before}${encoded}${behind}`);
          t.notOk(told.includes(encoded.slice(8, 20)), `${before}${encoded}${behind}: ${told}`);
          t.match(told, /\[secret\]/);
        }
      }
  for (const harmless of [
    'Unexpected token < in JSON at position 0',
    'at Object.<anonymous> (/usr/lib/node_modules/tenancy-gateway/dist/proxy/headers/request-headers.js:12:3)',
    '4bf92f3577b34da6a3ce929d0e0e4736',
  ])
    t.equal(redact(harmless), harmless);
  t.end();
});

t.test('whatever is thrown can be told: circles, depth, length and things that are no errors', (t) => {
  const circle = new Error('round');
  circle.cause = circle;
  const many = new AggregateError(
    Array.from({ length: 100 }, (_, i) => new Error(String(i))),
    'many',
  );
  for (const thrown of [circle, many, new Error('x'.repeat(100_000)), 'text', null, undefined, { a: 1 }]) {
    t.ok(JSON.stringify(describeError(thrown)).length < 60_000);
  }
  t.end();
});

t.test('a secret is not told in part, wherever a long text is cut', (t) => {
  for (const secret of ['postgres://gateway:hunter2hunter2@10.0.0.1/db', `tgw_${'hunter2'.repeat(6)}`])
    for (let before = 3_930; before <= 4_000; before++) {
      const told = redact(`${'x'.repeat(before - 1)} ${secret} ${'y'.repeat(100)}`);
      if (/hunt/.test(told)) t.fail(`${secret} after ${before} characters: ${told.slice(before - 10)}`);
    }
  t.ok(redact(`${'x '.repeat(10_000)}`).length > 3_900, 'the rest is told');
  t.end();
});
