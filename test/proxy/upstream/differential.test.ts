// class: pure
import { request } from 'node:http';
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import t from 'tap';
import { readResponses } from '../../support/response-log.ts';
import { validResponse } from '../../support/valid-responses.ts';

/** What both readers are held to: where the message ends, and what it says. */
interface Message {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

const mutation = fc.record({
  at: fc.nat(400),
  kind: fc.constantFrom('flip', 'insert', 'delete', 'repeat'),
  byte: fc.integer({ min: 0, max: 255 }),
  piece: fc.constantFrom(
    ...['\r', '\n', '\r\n', ' ', '\t', ':', ';', '0', 'a', '\0', '\x7f', ','],
    ...['Content-Length: 3\r\n', 'Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip\r\n'],
    ...['Connection: close\r\n', 'HTTP/1.1 200 OK\r\n\r\n', '0\r\n\r\n', ' folded\r\n'],
  ),
});
/**
 * Where ours lets through what Node does not: in what is said after a chunk's size, a tab behind a Content-Length, an
 * response after an interim one that says `close`. All of it ends here, so no other reader has to agree.
 */
const odd = [
  /\r\n[0-9a-f]+[\t ]*;/i,
  /content-length:[^\r]*\t/i,
  /HTTP\/1\.1 1\d\d (?:(?!\r\n\r\n)[^])*\nconnection:[^\r]*close/i,
];
const response = validResponse('length', 'empty', 'chunked', 'until-close', 'head', 'bodyless');

t.test('what is read in a damaged response is what Node reads in it, or it is rejected', async (t) => {
  const seen = { alike: 0, stricter: 0, rejected: 0, surplus: 0, laxer: 0 };
  await fc.assert(
    fc.asyncProperty(
      response,
      fc.array(mutation, { minLength: 1, maxLength: 3 }),
      async ({ bytes, toHead }, mutations) => {
        const damaged = Buffer.from(mutations.reduce(damage, bytes), 'latin1');
        const reading = readResponses(damaged, [toHead]);
        const ours = reading.fault === null ? reading.responses[0] : undefined;
        const theirs = await readByNode(damaged, toHead);
        if (ours === undefined) {
          seen[theirs === null ? 'rejected' : 'stricter'] += 1;
          return;
        }
        const { status, headers, body } = ours;
        if (theirs === null && reading.taken < damaged.length) {
          // Node takes what is behind a response for a broken one. Here the response counts, and its connection ends.
          seen.surplus += 1;
          return;
        }
        if (theirs === null && odd.some((form) => form.test(damaged.toString('latin1')))) {
          seen.laxer += 1;
          return;
        }
        seen.alike += 1;
        t.strictSame(theirs, { status, headers, body }, JSON.stringify(damaged.toString('latin1')));
      },
    ),
    // The same ones each time: what is found seldom belongs into a table, not into a run that fails once in a while.
    { numRuns: 4000, seed: Number(process.env['WIRE_SEED'] ?? 20261121) },
  );
  t.comment(
    `read alike: ${seen.alike}; rejected by both: ${seen.rejected}; by ours alone: ${seen.stricter}; by Node alone: ${seen.laxer + seen.surplus}`,
  );
  t.ok(seen.alike > 100, 'enough was read to compare');
});

function damage(
  bytes: string,
  { at, kind, byte, piece }: typeof mutation extends fc.Arbitrary<infer M> ? M : never,
) {
  const place = at % (bytes.length + 1);
  const [before, after] = [bytes.slice(0, place), bytes.slice(place)];
  if (kind === 'flip') return before + String.fromCharCode(byte) + after.slice(1);
  if (kind === 'insert') return before + piece + after;
  return kind === 'delete' ? before + after.slice(1) : before + after.slice(0, 20) + after;
}

/** Node's own client, strict as it is by default. `null` where it rejects, or finds no end. */
function readByNode(bytes: Buffer, toHead: boolean): Promise<Message | null> {
  return new Promise((resolve) => {
    const connection = new Duplex({
      read() {},
      write(_chunk, _encoding, done) {
        done();
        connection.push(bytes);
        connection.push(null);
      },
    });
    const asked = request({
      createConnection: () => connection,
      method: toHead ? 'HEAD' : 'GET',
      // Without an agent: that would open connections of its own.
      headers: { host: 'upstream.test' },
    });
    asked.on('error', () => resolve(null));
    asked.on('upgrade', () => resolve(null));
    asked.on('response', (response) => {
      const body: Buffer[] = [];
      response.on('data', (chunk: Buffer) => body.push(chunk));
      response.on('error', () => resolve(null));
      response.on('end', () => {
        const { statusCode = 0, rawHeaders, complete } = response;
        const message = {
          status: statusCode,
          headers: rawHeaders,
          body: Buffer.concat(body).toString('latin1'),
        };
        resolve(complete ? message : null);
      });
    });
    asked.end();
  });
}
