// class: pure
/**
 * One reading: what the gateway takes of a connection, `node:http` takes with the same method, target, headers and body;
 * what `node:http` rejects, the gateway rejects. Where the gateway is stricter, {@link stricter} says why.
 */
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { hostileRequests } from './support/hostile-requests.ts';
import { readByNode, type Reading } from './support/node-reading.ts';
import { readByUs, type OurReading } from './support/our-reading.ts';

/** Reasons for which the gateway rejects what `node:http` takes, by the fault. */
const stricter: Readonly<Record<string, string>> = {
  'no request line': 'Node takes a first line without a version for HTTP/0.9',
  'a line that ends without CR': 'Node 20 takes LF for CR LF in the first line',
  'a chunk without a size':
    'JavaScript has no exact numbers for sizes of more than 13 digits, and zeros count',
  'Its Content-Length is not a number.': 'nor for lengths of more than 15 digits',
  'Its Transfer-Encoding is not `chunked`.':
    'no other coding can be passed on, and servers disagree about lists',
  'Its length has a tab around it.': 'Node trims a tab before the value, but not one after it',
  'HTTP/1.0 has no Transfer-Encoding.': 'a server of HTTP/1.0 does not see the chunks (RFC 9112 §6.1)',
  'Its version is neither 1.1 nor 1.0.': 'Node takes some others for 1.1',
  'It must have one Host.':
    'the harness lets Node take any number, as the gateway did with a check of its own',
  'Its Host is not a host.': 'servers find different hosts in it',
  'It asks to keep the connection and to close it.': 'servers disagree about whether another request follows',
  'The only expectation known here is `100-continue`.': 'Node leaves other expectations to its user',
};

/** Reason as the table has it. */
function keyOf(fault: string): string {
  return fault.replace('the message has ', '').replace('The request is malformed. ', '');
}

t.test('published forms of smuggling are read in one way, cut at every place', async (t) => {
  for (const text of hostileRequests) {
    const bytes = Buffer.from(text, 'latin1');
    const ours = readByUs([bytes]);
    expectOneReading(t, text, ours, await readByNode(piecesOf(bytes, ours)));
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const again = readByUs([bytes.subarray(0, cut), bytes.subarray(cut)]);
      if (taken(again) !== taken(ours))
        t.equal(taken(again), taken(ours), `${JSON.stringify(text)}, cut at ${cut}`);
    }
  }
});

t.test('so are random requests', async (t) => {
  await fc.assert(
    fc.asyncProperty(connection, fc.array(fc.nat(400), { maxLength: 4 }), async (text, cuts) => {
      const bytes = Buffer.from(text, 'latin1');
      const ours = readByUs(cutAt(bytes, cuts));
      expectOneReading(t, text, ours, await readByNode(piecesOf(bytes, ours)));
    }),
    { numRuns: Number(process.env['TEST_READING_RUNS'] ?? 3_000) },
  );
});

/** Requests that were taken, and whether the rest was rejected, as text. */
function taken({ requests, rejected }: Reading): string {
  return JSON.stringify({ requests, rejected });
}

function expectOneReading(t: Test, text: string, ours: OurReading, nodes: Reading): void {
  const shown = JSON.stringify(text);
  const bytes = Buffer.from(text, 'latin1');
  const same = nodes.requests.slice(0, ours.requests.length);
  if (JSON.stringify(same) !== JSON.stringify(ours.requests)) t.same(ours.requests, same, shown);
  // Node rejects some bytes before the end of a line. The gateway waits for that end, and takes nothing until then.
  if (nodes.rejected && !ours.rejected && readByUs([bytes, lineEnds]).requests.length > ours.requests.length)
    t.fail(`node:http rejects, the gateway takes ${shown}`);
  if (ours.rejected && (!nodes.rejected || nodes.requests.length > ours.requests.length)) {
    const fault = keyOf(ours.fault ?? '');
    if (stricter[fault] === undefined) t.fail(`the gateway rejects ${shown}: ${fault}`);
  }
}

/**
 * Cuts bytes behind each request that the gateway takes. Node tells of a request only in a later turn, and forgets it if
 * it rejects what follows in the same piece. If the client has said that it sends no more, the rest is left out.
 */
function piecesOf(bytes: Buffer, { ends, over }: OurReading): Buffer[] {
  const pieces = cutAt(bytes, ends);
  return over === true ? pieces.slice(0, ends.length) : pieces;
}

const lineEnds = Buffer.from('\r\n\r\n\r\n\r\n');

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((to, i) => bytes.subarray(places[i], to));
}

/** Pieces of requests, put together at random: mostly well-formed, so that what follows is reached. */
const oddities = fc.constantFrom(
  ...[
    '\r',
    '\n',
    '\r\n',
    ' ',
    '\t',
    '\x00',
    '\x0b',
    '\x7f',
    '\xe9',
    ':',
    ';',
    ',',
    '"',
    '0',
    '5',
    'chunked',
    'a',
  ],
);
const headerLine = fc.constantFrom(
  ...[
    'Host: a',
    'Host: b',
    'X: y',
    'X:',
    'X: \xe9',
    'Content-Length: 0',
    'Content-Length: 5',
    'Content-Length: 12',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'transfer-encoding:chunked',
    'Transfer-Encoding: gzip',
    'Connection: close',
  ],
  ...['Connection: keep-alive', 'Expect: 100-continue', 'Upgrade: h2c', 'TE: trailers'],
);
const head = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'),
    fc.constantFrom('/', '/a?b', '/\xe9', '*', '/a b', 'http://a/'),
    fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2'),
    fc.array(headerLine, { maxLength: 4 }),
  )
  .map(([method, target, version, lines]) =>
    [`${method} ${target} ${version}`, 'Host: a', ...lines, '', ''].join('\r\n'),
  );
const body = fc.constantFrom(
  ...[
    '',
    '',
    'hello',
    '5\r\nhello\r\n0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\nA: b\r\n\r\n',
    '5;a=b\r\nhello\r\n0\r\n\r\n',
    '5\r\nhell',
  ],
);
const message = fc.tuple(head, body).map(([head, body]) => head + body);
const connection = fc
  .tuple(
    fc.array(message, { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(fc.nat(300), oddities, fc.boolean()), { maxLength: 2 }),
  )
  .map(([messages, changes]) => {
    let text = messages.join('');
    for (const [at, odd, replaces] of changes)
      if (at < text.length) text = text.slice(0, at) + odd + text.slice(replaces ? at + 1 : at);
    return text;
  });
