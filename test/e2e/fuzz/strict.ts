/**
 * HTTP/1.1 as RFC 9112 writes it, and not a bit more: what two readers could understand differently is no message
 * here. It stands beside what Node's parser makes of the same bytes, so it shares no line with it.
 *
 * Bytes are strings of Latin-1 throughout: one character is one byte.
 */

import { METHODS } from 'node:http';
import { namesInConnection, readFields, readHead, valuesOf, type Fields } from './strict-head.ts';

export interface StrictRequest {
  readonly method: string;
  readonly target: string;
  readonly version: '1.0' | '1.1';
  readonly fields: Fields;
  readonly body: string;
}

/** Requests that are there whole, and what became of the bytes after them. */
export interface StrictRequests {
  readonly requests: readonly StrictRequest[];
  /** `opaque`: an upgrade was taken, or the last request was said to be the last: what follows is no request. */
  readonly rest: 'nothing' | 'partial' | 'malformed' | 'opaque';
  /** The head after the whole ones, where that is well formed: its body is what is amiss. */
  readonly unfinished: StrictRequest | undefined;
  /** Bytes that the whole requests took. */
  readonly end: number;
}

/** Reads all the requests of a connection. */
export function readRequests(bytes: string, from = 0): StrictRequests {
  const requests: StrictRequest[] = [];
  let end = from;
  const stop = (rest: StrictRequests['rest'], unfinished?: StrictRequest): StrictRequests => {
    return { requests, rest, unfinished, end };
  };
  for (;;) {
    // A server ought to skip empty lines before a request (RFC 9112 §2.2), and Node skips their halves.
    let at = end;
    while (bytes[at] === '\r' || bytes[at] === '\n') at += 1;
    if (at === bytes.length) return stop('nothing');
    const head = readHead(bytes, at, true);
    if (typeof head === 'string') return stop(head);
    const line = requestLine.exec(head.startLine);
    if (line === null) return stop('malformed');
    const { fields } = head;
    const [, method = '', target = '', minor = ''] = line;
    const version = minor === '1' ? '1.1' : '1.0';
    const framing = requestFraming(fields, version);
    if (framing === undefined || !METHODS.includes(method)) return stop('malformed');
    const body = readBody(bytes, head.end, framing);
    const request: StrictRequest = { method, target, version, fields, body: body.data };
    if (body.state !== 'whole') return stop(body.state, request);
    requests.push(request);
    end = body.end;
    if (takesUpgrade(request) || method === 'CONNECT') return stop('opaque');
    if (isLast(fields, version)) return stop(end === bytes.length ? 'nothing' : 'opaque');
  }
}

/** One response as far as it can be read. */
export interface StrictResponse {
  /** Of the final response; 0 where there is none. */
  readonly status: number;
  readonly fields: Fields;
  readonly trailers: Fields;
  /** What there is of the body. */
  readonly body: string;
  /** `until-close`: the body ends where the connection does. */
  readonly state: 'whole' | 'until-close' | 'partial' | 'malformed';
  /** Number of interim responses before it. */
  readonly interim: number;
  /** Bytes it took, interim responses included. */
  readonly end: number;
}

/** Reads the response to a request with `method`. Empty lines before it are skipped, as many readers do. */
export function readResponse(bytes: string, method: string, from = 0): StrictResponse {
  let at = from;
  for (let interim = 0; ; interim++) {
    while (bytes.startsWith('\r\n', at)) at += 2;
    const nothing = { status: 0, fields: [], trailers: [], body: '', interim, end: at };
    const head = readHead(bytes, at);
    if (typeof head === 'string') return { ...nothing, state: head };
    const line = statusLine.exec(head.startLine);
    if (line === null) return { ...nothing, state: 'malformed' };
    const status = Number(line[1]);
    if (status < 200) {
      // Nothing here is asked to switch protocols.
      if (status === 101) return { ...nothing, status, state: 'malformed' };
      at = head.end;
      continue;
    }
    const { fields } = head;
    const known = { status, fields, interim };
    const framing = responseFraming(fields, method, status);
    if (framing === undefined) return { ...nothing, ...known, state: 'malformed' };
    if (framing.kind === 'until-close')
      return { ...nothing, ...known, body: bytes.slice(head.end), state: 'until-close', end: bytes.length };
    const { data: body, state, end, trailers } = readBody(bytes, head.end, framing);
    return { ...known, trailers, body, state, end };
  }
}

/** More blanks than one may stand between the words (RFC 9112 §3), since they do not go on. */
const requestLine = /^([A-Z][A-Z-]*) +([!-~\x80-\xff]+) +HTTP\/1\.([01])$/;
/** Of an interim response as of the one that counts: tabs, blanks and what can be seen may stand in a reason (§4). */
const statusLine = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [\t -~\x80-\xff]*)?$/;

type Framing =
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' };

/** `undefined` where the length is ambiguous: given twice, in two ways, or in a way some reader misreads. */
function requestFraming(fields: Fields, version: string): Framing | undefined {
  const hosts = valuesOf(fields, 'host').length;
  if (hosts > 1 || (hosts === 0 && version === '1.1')) return undefined;
  if (fields.some(([name]) => looksLikeFraming(name))) return undefined;
  const framing = givenFraming(fields);
  if (framing === undefined) return undefined;
  if (framing === null) return { kind: 'length', length: 0 };
  return framing.kind === 'chunked' && version === '1.0' ? undefined : framing;
}

function responseFraming(fields: Fields, method: string, status: number): Framing | undefined {
  const framing = givenFraming(fields);
  if (framing === undefined) return undefined;
  if (method === 'HEAD' || status === 204 || status === 304) return { kind: 'length', length: 0 };
  return framing ?? { kind: 'until-close' };
}

/** `null` where none is given. */
function givenFraming(fields: Fields): Framing | null | undefined {
  const lengths = valuesOf(fields, 'content-length');
  const codings = valuesOf(fields, 'transfer-encoding');
  if (lengths.length + codings.length > 1) return undefined;
  if (codings[0] !== undefined)
    return codings[0].toLowerCase() === 'chunked' ? { kind: 'chunked' } : undefined;
  if (lengths[0] === undefined) return null;
  return /^0*\d{1,18}$/.test(lengths[0]) ? { kind: 'length', length: Number(lengths[0]) } : undefined;
}

function looksLikeFraming(name: string): boolean {
  const letters = name.replace(/[^a-z0-9]/g, '-');
  return name !== letters && (letters === 'content-length' || letters === 'transfer-encoding');
}

/** Whether an offer to go on with another protocol is taken: of a WebSocket, away from management. Others are ignored. */
function takesUpgrade({ version, target, fields }: StrictRequest): boolean {
  const offers = valuesOf(fields, 'upgrade').join().toLowerCase().split(',');
  return (
    version === '1.1' &&
    offers.some((offer) => offer.trim() === 'websocket') &&
    namesInConnection(fields).includes('upgrade') &&
    !target.startsWith('/v1/sub-accounts')
  );
}

/** Whether nothing that follows is a request (RFC 9112 §9.3). */
function isLast(fields: Fields, version: string): boolean {
  const named = namesInConnection(fields);
  return named.includes('close') || (version === '1.0' && !named.includes('keep-alive'));
}

interface Body {
  readonly data: string;
  readonly trailers: Fields;
  readonly state: 'whole' | 'partial' | 'malformed';
  readonly end: number;
}

function readBody(bytes: string, from: number, framing: Framing): Body {
  if (framing.kind === 'chunked') return readChunks(bytes, from);
  const length = framing.kind === 'length' ? framing.length : bytes.length - from;
  const data = bytes.slice(from, from + length);
  const state = data.length === length ? 'whole' : 'partial';
  return { data, trailers: [], state, end: from + data.length };
}

const chunkLine = /^([0-9A-Fa-f]+)(?:[ \t]*;[\t -~\x80-\xff]*)?$/;

function readChunks(bytes: string, from: number): Body {
  let data = '';
  let at = from;
  const stop = (state: Body['state'], trailers: Fields = []): Body => ({ data, trailers, state, end: at });
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    // A line of this length holds no size that could still become one.
    if (lineEnd === -1)
      return stop(/^[0-9A-Fa-f]*(?:[ \t;][^\n]*)?\r?$/.test(bytes.slice(at)) ? 'partial' : 'malformed');
    const size = chunkLine.exec(bytes.slice(at, lineEnd))?.[1];
    if (size === undefined) return stop('malformed');
    const length = Number.parseInt(size, 16);
    const start = lineEnd + 2;
    if (length === 0) {
      if (bytes.startsWith('\r\n', start)) {
        at = start + 2;
        return stop('whole');
      }
      const end = bytes.indexOf('\r\n\r\n', start);
      if (end === -1) return stop('partial');
      const trailers = readFields(bytes.slice(start, end).split('\r\n'));
      if (trailers === undefined) return stop('malformed');
      at = end + 4;
      return stop('whole', trailers);
    }
    const chunk = bytes.slice(start, start + length);
    data += chunk;
    if (chunk.length < length) return stop('partial');
    const after = bytes.slice(start + length, start + length + 2);
    if (after !== '\r\n') return stop('\r\n'.startsWith(after) ? 'partial' : 'malformed');
    at = start + length + 2;
  }
}
