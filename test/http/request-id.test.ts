import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { requestIds } from '../../src/http/request-id.ts';

const fromClient = (...ids: string[]) =>
  ({ socket: {}, rawHeaders: ids.flatMap((id) => ['X-Request-ID', id]) }) as unknown as IncomingMessage;

t.test('every request gets an id of its own, 32 hex digits of the randomness it was given', (t) => {
  const id = requestIds(randomBytes, () => false);
  const ids = Array.from({ length: 2000 }, () => id(fromClient()));
  t.equal(new Set(ids).size, ids.length);
  t.ok(ids.every((text) => /^[0-9a-f]{32}$/.test(text)));

  let asked = 0;
  const counted = requestIds(
    (size) => new Uint8Array(size).fill((asked += 1)),
    () => false,
  );
  for (let i = 0; i < 256; i++) t.equal(counted(fromClient()), '01'.repeat(16));
  t.equal(counted(fromClient()), '02'.repeat(16), 'no byte is used twice');
  t.end();
});

t.test("a client's id counts from a trusted proxy alone", (t) => {
  t.equal(requestIds(randomBytes, () => true)(fromClient('abc-123')), 'abc-123');
  t.match(requestIds(randomBytes, () => false)(fromClient('abc-123')), /^[0-9a-f]{32}$/);
  t.end();
});

t.test('even a trusted proxy cannot make an id that breaks a log line or a header', (t) => {
  const id = requestIds(randomBytes, () => true);
  t.equal(
    id(fromClient('Root=1-67891233-abcdef012345678912345678')),
    'Root=1-67891233-abcdef012345678912345678',
  );
  t.equal(id(fromClient('a'.repeat(128))), 'a'.repeat(128));
  for (const bad of [
    '',
    ' ',
    'a b',
    'a\tb',
    'a"b',
    'a,b',
    'a\nb',
    'é',
    '<a>',
    '{}',
    'a'.repeat(129),
    'a\n',
  ]) {
    t.match(id(fromClient(bad)), /^[0-9a-f]{32}$/, JSON.stringify(bad));
  }
  t.match(id(fromClient('one', 'two')), /^[0-9a-f]{32}$/, 'sent twice');
  t.end();
});
