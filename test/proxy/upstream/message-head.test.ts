// class: pure
import fc from 'fast-check';
import t from 'tap';
import { requestHead, type OutgoingRequest } from '../../../src/proxy/upstream/message-head.ts';

const streamed = (length: number | undefined): OutgoingRequest['body'] => ({
  length,
  start: () => undefined,
  resume: () => undefined,
});

const plain = { method: 'GET', target: '/', headers: [], body: null };

/** Lines of a head, without the two ends of line that close it. */
function linesOf(request: Partial<OutgoingRequest>): string[] {
  return requestHead({ ...plain, ...request }, 'upstream:80')
    .slice(0, -4)
    .split('\r\n');
}

/** Every string there is, those that would do harm most of all. */
const anything = fc.string({
  unit: fc
    .oneof(
      { weight: 5, arbitrary: fc.integer({ min: 0x21, max: 0x7e }) },
      { weight: 1, arbitrary: fc.constantFrom(0x0d, 0x0a, 0, 0x7f, 0x20, 0x09, 0x3a) },
      // In Latin-1, of which only the lower byte goes out, the first two are CR and LF.
      { weight: 1, arbitrary: fc.constantFrom(0x10d, 0x10a, 0x560a, 0x100, 0xff, 0x80, 0xffff) },
    )
    .map((code) => String.fromCharCode(code)),
  maxLength: 20,
});

t.test('nothing in a request ends a line early, or goes out as something else', async (t) => {
  let passed = 0;
  const wrong: string[] = [];
  fc.assert(
    fc.property(anything, anything, anything, anything, (method, target, name, value) => {
      for (const request of [
        { ...plain, method },
        { ...plain, target },
        { ...plain, headers: [name, value] },
        { ...plain, headers: ['x-a', value] },
        { ...plain, headers: ['host', value] },
        { ...plain, headers: [name, 'b'] },
      ]) {
        let head: string;
        try {
          head = requestHead(request, 'upstream:80');
        } catch {
          continue;
        }
        passed += 1;
        const lines = head.split('\r\n');
        const sound =
          Buffer.from(head, 'latin1').toString('latin1') === head &&
          !/[\r\n\0]/.test(lines.join('')) &&
          /^[^ ]+ [^ ]+ HTTP\/1\.1$/.test(lines[0] ?? '') &&
          lines.length <= 4 + request.headers.length / 2;
        if (!sound) wrong.push(head);
      }
    }),
    { numRuns: 500 },
  );
  t.same(wrong, []);
  t.ok(passed > 500, `${passed} went out`);
});

t.test('each of what would end a line early is rejected', async (t) => {
  for (const bad of ['\r', '\n', '\r\n', '\0', '\u010d', '\u010a', '\u560a', '\u{1f600}']) {
    const text = `a${bad}b`;
    t.throws(() => linesOf({ method: text }), /method/);
    t.throws(() => linesOf({ target: `/${text}` }), /target/);
    t.throws(() => linesOf({ headers: [text, 'b'] }), /name/);
    t.throws(() => linesOf({ headers: ['a', text] }), /value/);
    t.throws(() => linesOf({ headers: ['host', text] }), /value/);
  }
  t.throws(() => linesOf({ target: '' }), /target/);
  t.throws(() => linesOf({ target: '/a b' }), /target/);
  t.throws(() => linesOf({ method: '' }), /method/);
  t.throws(() => linesOf({ headers: ['', 'b'] }), /name/);
  t.throws(() => linesOf({ headers: ['a: b', 'c'] }), /name/);
});

t.test('how the body is framed is written from the body alone, whatever the headers say', async (t) => {
  const spelled = [
    'content-length',
    'Content-Length',
    'CONTENT-LENGTH',
    'transfer-encoding',
    'Transfer-Encoding',
  ];
  const headers = [...spelled.flatMap((name) => [name, name.length === 14 ? '7' : 'chunked']), 'x-a', 'b'];
  for (const [method, body, framing] of [
    ['GET', null, []],
    ['DELETE', null, []],
    ['POST', null, ['content-length: 0']],
    ['PUT', null, ['content-length: 0']],
    ['PATCH', null, ['content-length: 0']],
    ['GET', Buffer.alloc(0), ['content-length: 0']],
    ['POST', Buffer.from('abc'), ['content-length: 3']],
    ['POST', streamed(70_000), ['content-length: 70000']],
    ['POST', streamed(undefined), ['transfer-encoding: chunked']],
  ] as const) {
    t.strictSame(linesOf({ method, headers, body }), [
      `${method} / HTTP/1.1`,
      'host: upstream:80',
      ...framing,
      'x-a: b',
    ]);
  }
});

t.test('the host comes first, once, however it is spelled', async (t) => {
  t.strictSame(linesOf({ headers: ['x-a', 'b', 'Host', 'one', 'HOST', 'two'] }), [
    'GET / HTTP/1.1',
    'host: two',
    'x-a: b',
  ]);
});

t.test('all of Latin-1 that may stand in a value stays what it is', async (t) => {
  const codes = Array.from({ length: 256 }, (_, code) => code);
  const allowed = codes.filter((code) => code === 9 || (code >= 32 && code !== 127));
  const value = String.fromCharCode(...allowed);
  t.equal(linesOf({ headers: ['x-a', value] })[2], `x-a: ${value}`);
});
