import type { AccountId } from '../../domain/ids.ts';
import type { Tenancy } from '../../limits/shares.ts';
import {
  hasOption,
  lengthForm,
  parseFieldLines,
  requireFieldLines,
  token,
  writeFieldLine,
} from '../../http1/fields.ts';
import { MessageFault } from '../../http1/message-fault.ts';
import type { HttpVersion } from '../../http1/version.ts';

/** A request to be sent. */
export interface OutgoingRequest {
  readonly method: string;
  /** Target as the client sent it; the ingress has checked it. */
  readonly target: string;
  /** Flat list of names and values. The body's length is not taken from them. */
  readonly headers: readonly string[];
  readonly body: Buffer | BodySource | null;
  /** Owner of the connections that the request may use. */
  readonly admittedAs: AdmittedAs;
}

/** Owner of upstream connections: a caller that acts as one tenant, or a client's network that sent no key. */
export interface AdmittedAs {
  readonly permit: Tenancy;
  /** `null` if the request has no key. */
  readonly caller: { readonly accountId: AccountId } | null;
}

/** A body that is sent as it arrives. */
export interface BodySource {
  /** Number of bytes; `undefined` if it is not known in advance, in which case the body is sent in chunks. */
  readonly length: number | undefined;
  /** Starts writing the body to `sink`. */
  start(sink: BodySink): void;
  /** Resumes writing after a `write` that returned `false`, because the sink has room again. */
  resume(): void;
}

/** Receives a body in pieces. */
export interface BodySink {
  /** Returns `false` if the next piece should wait for {@link BodySource.resume}. */
  write(chunk: Buffer): boolean;
  /** Whether the operating system has taken all pieces. Until then their bytes must not change. */
  readonly hasSentAll: boolean;
  end(): void;
}

const lineForm = /^[\x21-\x7e\x80-\xff]+$/;

/**
 * Writes the head of a request (RFC 9112 §3). The framing headers are derived from the body, so they cannot contradict
 * it. `Host` and the framing headers come first, because some upstreams drop headers beyond a certain number.
 *
 * @param host `Host` for requests that have none
 * @returns the head in Latin-1
 * @throws Error if a character would end a line early. The ingress has already rejected such requests
 */
export function requestHead(
  { method, target, headers, body }: Omit<OutgoingRequest, 'admittedAs'>,
  host: string,
): string {
  if (!token.test(method)) throw new Error('a method that is not a token');
  if (!lineForm.test(target)) throw new Error('a target that is not one line');
  let fields = '';
  let count = 1;
  let named = host;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    const own = ownName(name);
    if (own === 'host') named = value;
    else if (own === null) {
      fields += writeFieldLine(name, value);
      count += 1;
    }
  }
  const hostLine = writeFieldLine('host', named);
  requireFieldLines(hostLine + fields, count);
  return `${method} ${target} HTTP/1.1\r\n${hostLine}${framing(method, body)}${fields}\r\n`;
}

/**
 * Returns the name in lower case if this file writes that header itself; otherwise `null`. Most names are ruled out by
 * their length.
 */
function ownName(name: string): string | null {
  if (!ownLengths.has(name.length)) return null;
  const lower = name.toLowerCase();
  return ownNames.has(lower) ? lower : null;
}

const ownNames = new Set(['host', 'content-length', 'transfer-encoding']);
const ownLengths = new Set([...ownNames].map(({ length }) => length));

function framing(method: string, body: OutgoingRequest['body']): string {
  if (body === null) return expectsBody.has(method) ? 'content-length: 0\r\n' : '';
  return body.length === undefined
    ? 'transfer-encoding: chunked\r\n'
    : `content-length: ${String(body.length)}\r\n`;
}

/** Methods whose requests state a length of 0 if they have no body (RFC 9110 §8.6). */
const expectsBody = new Set(['POST', 'PUT', 'PATCH']);

/** How to find the end of a response's body (RFC 9112 §6.3). */
export type BodyFraming =
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' };

/** Head of a response. */
export interface ResponseHead {
  readonly version: HttpVersion;
  readonly status: number;
  readonly reason: string;
  /** Flat list of names and values, as the upstream wrote them. */
  readonly headers: string[];
  readonly body: BodyFraming;
  /** Whether the upstream will take another request on this connection. */
  readonly keepAlive: boolean;
  /** Milliseconds for which the upstream keeps an idle connection open; `null` if it does not say. */
  readonly keepAliveMs: number | null;
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
const timeoutParameter = /(?:^|[\s,])timeout=(\d{1,6})/i;
const bodyless: BodyFraming = { kind: 'length', length: 0 };

/**
 * Reads the head of a response. It rejects every head that two parsers could understand differently: a head with two
 * lengths, with a length as well as chunks, or with a transfer coding other than `chunked`.
 *
 * @param text Latin-1, up to and including the CRLF of the last line
 * @param toHead whether the request was a HEAD
 * @throws MessageFault if the head is rejected
 */
export function parseResponseHead(text: string, toHead: boolean): ResponseHead {
  const lineEnd = text.indexOf('\r\n');
  const line = statusLine.exec(text.slice(0, lineEnd));
  if (line === null) throw new MessageFault('no HTTP/1 status line');
  const status = Number(line[2]);
  const headers = parseFieldLines(text, lineEnd + 2);

  let length: string | undefined;
  let chunked = false;
  let connection = '';
  let keepAliveMs: number | null = null;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    switch (name.length) {
      case 'connection'.length: {
        const lower = name.toLowerCase();
        if (lower === 'connection') connection += `,${value.toLowerCase()}`;
        else if (lower === 'keep-alive') keepAliveMs = timeoutOf(value);
        break;
      }
      case 'content-length'.length:
        if (name.toLowerCase() !== 'content-length') break;
        if (length !== undefined) throw new MessageFault('two Content-Length');
        if (!lengthForm.test(value)) throw new MessageFault('a Content-Length that is not a number');
        length = value;
        break;
      case 'transfer-encoding'.length:
        if (name.toLowerCase() !== 'transfer-encoding') break;
        if (chunked || value.toLowerCase() !== 'chunked')
          throw new MessageFault('an unknown transfer coding');
        chunked = true;
        break;
      default:
    }
  }
  const current = line[1] === '1';
  if (chunked && length !== undefined) throw new MessageFault('a length and chunks');
  if (chunked && !current) throw new MessageFault('chunks in HTTP/1.0');
  return {
    version: current ? '1.1' : '1.0',
    status,
    reason: line[3] ?? '',
    headers,
    body: framingOf(status, toHead, chunked, length),
    keepAlive: !hasOption(connection, 'close') && (current || hasOption(connection, 'keep-alive')),
    keepAliveMs,
  };
}

function framingOf(
  status: number,
  toHead: boolean,
  chunked: boolean,
  length: string | undefined,
): BodyFraming {
  if (toHead || status === 204 || status === 304 || status < 200) return bodyless;
  if (chunked) return { kind: 'chunked' };
  return length === undefined ? { kind: 'until-close' } : { kind: 'length', length: Number(length) };
}

function timeoutOf(value: string): number | null {
  const seconds = timeoutParameter.exec(value)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}
