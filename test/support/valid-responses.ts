/** Arbitrary responses that RFC 9112 allows, with what is to be read in them. */
import fc from 'fast-check';
import type { ReadResponse } from './response-log.ts';

export interface ValidResponse extends ReadResponse {
  /** Latin-1. */
  readonly bytes: string;
  readonly toHead: boolean;
  /** Nothing but the end of the connection ends it. */
  readonly untilClose: boolean;
}

const token = fc.string({
  unit: fc.constantFrom(..."abcXYZ019-_.~!#$%&'*+^`|"),
  minLength: 1,
  maxLength: 12,
});
/** A character of a field value. */
const text = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0x21, max: 0x7e }) },
  { weight: 1, arbitrary: fc.integer({ min: 0x80, max: 0xff }) },
  { weight: 1, arbitrary: fc.constantFrom(0x20, 0x09) },
);
const line = fc.array(text, { maxLength: 20 }).map((codes) => String.fromCharCode(...codes));
const value = line.map((each) => each.replace(/^[\t ]+|[\t ]+$/g, ''));
const blanks = fc.constantFrom('', ' ', '\t', '  \t');
/** A field as it is written, and as it is read. */
const field = fc
  .tuple(fc.constantFrom('X-', 'x', 'Set-'), token, blanks, value, blanks)
  .map(([prefix, name, before, content, after]) => ({
    written: `${prefix}${name}:${before}${content}${after}\r\n`,
    read: [`${prefix}${name}`, content] as const,
  }));
const fields = fc.array(field, { maxLength: 6 });
const bytes = fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each).toString('latin1'));
const interim = fc
  .tuple(fc.constantFrom(100, 102, 103, 199), fields)
  .map(([status, extra]) => `HTTP/1.1 ${status} x\r\n${extra.map(({ written }) => written).join('')}\r\n`);

const extension = fc.constantFrom('', ';a', ';a=b', ' ; a="b"', ';a=b;c', '\t;x=\xe9');
const chunk = fc
  .tuple(
    fc.uint8Array({ minLength: 1, maxLength: 60 }),
    extension,
    fc.boolean(),
    fc.integer({ max: 3, min: 0 }),
  )
  .map(([data, after, upper, zeros]) => {
    const size = '0'.repeat(zeros) + data.length.toString(16);
    const content = Buffer.from(data).toString('latin1');
    return { content, written: `${upper ? size.toUpperCase() : size}${after}\r\n${content}\r\n` };
  });
const chunkedBody = fc
  .tuple(fc.array(chunk, { maxLength: 5 }), fc.constantFrom('0', '000'), extension, fields)
  .map(([chunks, last, after, trailers]) => ({
    content: chunks.map(({ content }) => content).join(''),
    written: `${chunks.map(({ written }) => written).join('')}${last}${after}\r\n${trailers
      .map(({ written }) => written)
      .join('')}\r\n`,
    trailers: trailers.flatMap(({ read }) => [...read]),
  }));

type Kind = 'length' | 'empty' | 'chunked' | 'until-close' | 'head' | 'bodyless';

export function validResponse(...kinds: Kind[]): fc.Arbitrary<ValidResponse> {
  return fc
    .record({
      kind: fc.constantFrom(...kinds),
      interims: fc.array(interim, { maxLength: 3 }),
      status: fc.integer({ min: 200, max: 999 }).filter((status) => status !== 204 && status !== 304),
      none: fc.constantFrom(204, 304),
      reason: fc.option(line),
      old: fc.boolean(),
      connection: fc.constantFrom(
        null,
        'close',
        'keep-alive',
        'x, Close',
        'Keep-Alive , y',
        'keep-alive, close',
      ),
      said: fc.constantFrom('', 'Content-Length: 5\r\n', 'content-length:17\r\n'),
      before: fields,
      after: fields,
      body: bytes.filter((each) => each.length > 0),
      chunks: chunkedBody,
    })
    .map((it): ValidResponse => {
      const { kind } = it;
      const chunked = kind === 'chunked';
      const old = it.old && !chunked;
      const status = kind === 'bodyless' ? it.none : it.status;
      const body = {
        length: it.body,
        empty: '',
        chunked: it.chunks.content,
        'until-close': it.body,
        head: '',
        bodyless: '',
      };
      const framing = {
        length: `CONTENT-Length: ${it.body.length}\r\n`,
        empty: 'Content-Length: 0\r\n',
        chunked: 'Transfer-encoding: CHUNKED\r\n',
        'until-close': '',
        head: it.said,
        bodyless: it.said,
      }[kind];
      const connection = it.connection === null ? '' : `Connection: ${it.connection}\r\n`;
      const lines = [it.before.map(({ written }) => written).join(''), framing, connection];
      const head =
        `HTTP/1.${old ? 0 : 1} ${status}${it.reason === null ? '' : ` ${it.reason}`}\r\n` +
        `${lines.join('')}${it.after.map(({ written }) => written).join('')}\r\n`;
      const closes = /close/i.test(it.connection ?? '');
      return {
        bytes: it.interims.join('') + head + (chunked ? it.chunks.written : body[kind]),
        toHead: kind === 'head',
        untilClose: kind === 'until-close',
        status,
        reason: it.reason ?? '',
        headers: [
          ...it.before.flatMap(({ read }) => [...read]),
          ...fieldOf(framing),
          ...fieldOf(connection),
          ...it.after.flatMap(({ read }) => [...read]),
        ],
        keepAlive: !closes && (!old || /keep-alive/i.test(it.connection ?? '')),
        body: body[kind],
        trailers: chunked ? it.chunks.trailers : [],
      };
    });
}

function fieldOf(written: string): string[] {
  const [name = '', content = ''] = written.trim().split(/: ?/);
  return written === '' ? [] : [name, content];
}

/** What is to be read in a response, without how it was written. */
export function expected({
  status,
  reason,
  headers,
  keepAlive,
  body,
  trailers,
}: ValidResponse): ReadResponse {
  return { status, reason, headers, keepAlive, body, trailers };
}
