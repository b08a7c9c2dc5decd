// class: pure
import fc from 'fast-check';
import t from 'tap';
import { everyByte, readResponses } from '../../support/response-log.ts';
import { expected, validResponse } from '../../support/valid-responses.ts';

const anyKind = validResponse('length', 'empty', 'chunked', 'until-close', 'head', 'bodyless');
const selfEnding = validResponse('length', 'empty', 'chunked', 'head', 'bodyless');

t.test('a valid response is read as it was meant, whole, in any pieces and byte by byte', async () => {
  fc.assert(
    fc.property(anyKind, fc.array(fc.nat(2000), { maxLength: 12 }), (response, anywhere) => {
      const bytes = Buffer.from(response.bytes, 'latin1');
      const cuts = anywhere.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b);
      const whole = readResponses(bytes, [response.toHead]);
      const right = { responses: [expected(response)], taken: bytes.length, fault: null, unfinished: null };
      t.strictSame(whole, right);
      t.strictSame(readResponses(bytes, [response.toHead], cuts), whole);
      t.strictSame(readResponses(bytes, [response.toHead], everyByte(bytes)), whole);
    }),
    { numRuns: 300 },
  );
});

t.test('nothing after the end of a response is taken', async () => {
  fc.assert(
    fc.property(
      selfEnding,
      fc.string({ minLength: 1, maxLength: 40 }),
      fc.boolean(),
      (response, more, slowly) => {
        const bytes = Buffer.from(response.bytes + more, 'latin1');
        const reading = readResponses(bytes, [response.toHead], slowly ? everyByte(bytes) : []);
        t.equal(reading.taken, response.bytes.length);
        t.strictSame(reading.responses, [expected(response)]);
      },
    ),
    { numRuns: 200 },
  );
});

t.test('responses come one after another', async () => {
  const several = fc.array(selfEnding, { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(several, fc.array(fc.nat(5000), { maxLength: 12 }), (responses, anywhere) => {
      const bytes = Buffer.from(responses.map((each) => each.bytes).join(''), 'latin1');
      const cuts = anywhere.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b);
      const heads = responses.map(({ toHead }) => toHead);
      t.strictSame(readResponses(bytes, heads, cuts).responses, responses.map(expected));
    }),
    { numRuns: 100 },
  );
});

t.test('a response that is cut off anywhere has no end, unless the connection ends it', async () => {
  fc.assert(
    fc.property(anyKind, fc.nat(5000), (response, anywhere) => {
      const at = anywhere % response.bytes.length;
      const reading = readResponses(Buffer.from(response.bytes.slice(0, at), 'latin1'), [response.toHead]);
      const { fault, responses } = reading;
      if (response.untilClose && reading.responses.length === 1) {
        t.equal(fault, null);
        t.ok(response.body.startsWith(responses[0]?.body ?? '?'));
      } else {
        t.equal(fault, 'no end');
        t.strictSame(responses, []);
      }
    }),
    { numRuns: 300 },
  );
});

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

t.test('a hundred interim responses, and one that counts', async (t) => {
  const bytes = Buffer.from(`${'HTTP/1.1 102 x\r\n\r\n'.repeat(100)}${ok}Content-Length: 0\r\n\r\n`);
  t.match(readResponses(bytes, [false]), { fault: null, responses: [{ status: 200 }] });
});

t.test('a head may have 64 KiB and not a byte more, in one read or in many', async (t) => {
  const limit = 64 * 1024;
  for (const [length, fault] of [
    [limit, null],
    [limit + 1, 'too long a head'],
    [2 * limit, 'too long a head'],
  ] as const) {
    const start = `${ok}Content-Length: 0\r\nA: `;
    const bytes = Buffer.from(`${start}${'a'.repeat(length - start.length)}\r\n\r\n`);
    const last = Array.from({ length: 8 }, (_, i) => bytes.length - 8 + i);
    const thousands = Array.from({ length: bytes.length / 1000 }, (_, i) => i * 1000);
    for (const cuts of [[], last, thousands, [limit], [limit + 1], [limit + 2]]) {
      t.equal(readResponses(bytes, [false], cuts).fault, fault, `${length} cut at ${cuts[0]}`);
    }
  }
  const endless = Buffer.alloc(limit + 4, 'HTTP/1.1 200 OK');
  t.equal(readResponses(endless, [false], [], false).fault, 'too long a head', 'before its end is there');
});

t.test('a long body may have any number of usual chunks', async (t) => {
  const bytes = Buffer.from(`${chunked}${'1;a=b\r\nx\r\n'.repeat(50_000)}0\r\n\r\n`);
  const { responses } = readResponses(bytes, [false]);
  t.equal(responses[0]?.body.length, 50_000);
});

t.test('a chunk size may begin with any number of zeros', async (t) => {
  for (const zeros of [1, 12, 13, 15, 1_000].map((count) => '0'.repeat(count))) {
    const bytes = Buffer.from(`${chunked}${zeros}1;a=b\r\nx\r\n${zeros}A\r\n0123456789\r\n${zeros}\r\n\r\n`);
    const { fault, responses } = readResponses(bytes, [false]);
    t.equal(fault, null);
    t.equal(responses[0]?.body, 'x0123456789', `${zeros.length} zeros`);
  }
});
