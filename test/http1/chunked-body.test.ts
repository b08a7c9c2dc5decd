// class: pure
import fc from 'fast-check';
import t from 'tap';
import { ChunkedBody } from '../../src/http1/chunked-body.ts';

/** Feeds pieces to a body, and returns the contents that were taken, each as they were when the feed ended. */
function read(pieces: readonly Buffer[], body = new ChunkedBody(true)): string[] {
  return pieces.flatMap((piece) => {
    const taken: Buffer[] = [];
    body.feed(piece, 0, piece.length, (bytes, from, to) => taken.push(bytes.subarray(from, to)) > 0);
    return taken.map((each) => each.toString('latin1'));
  });
}

t.test('small chunks of one read are taken at once', (t) => {
  const body = new ChunkedBody(true);
  const taken = read([Buffer.from(`${'3;a=b\r\nabc\r\n'.repeat(1_000)}0\r\n\r\n`)], body);
  t.same(taken, ['abc'.repeat(1_000)]);
  t.ok(body.over);
  t.equal(body.chunks, 1_001);
  t.end();
});

t.test('large chunks stay where they are', (t) => {
  const large = 'x'.repeat(5_000);
  const bytes = Buffer.from(`2\r\nab\r\n1388\r\n${large}\r\n1\r\nc\r\n1388\r\n${large}\r\n0\r\n\r\n`);
  t.same(read([bytes]), ['ab', `${large}c`, large]);
  t.end();
});

t.test('whatever the sizes and the cuts, the contents are the same', (t) => {
  const contents = fc.array(fc.string({ minLength: 1, maxLength: 6_000, unit: 'binary-ascii' }), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(contents, fc.array(fc.nat(20_000), { maxLength: 6 }), (chunks, cuts) => {
      const text = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
      const bytes = Buffer.from(`${text}0\r\n\r\n`, 'latin1');
      const at = [0, ...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b);
      const pieces = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
      const body = new ChunkedBody(true);
      t.equal(read(pieces, body).join(''), chunks.join(''));
      t.ok(body.over);
    }),
    { numRuns: 300 },
  );
  t.end();
});
