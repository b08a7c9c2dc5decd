import type { AccountId } from '../../domain/ids.ts';

/** A request as it goes out. */
export interface OutgoingRequest {
  readonly method: string;
  /** As the client sent it; the ingress has checked it. */
  readonly target: string;
  /** Flat list of names and values. What they say about the length of the body does not count. */
  readonly headers: readonly string[];
  readonly body: Buffer | BodySource | null;
  /** Whose connections it may use; `null` for a preflight that was let through without a key. */
  readonly tenant: AccountId | null;
}

/** A body that is sent as it comes in. */
export interface BodySource {
  /** Bytes; `undefined` where it is not known beforehand, and the body is sent in chunks. */
  readonly length: number | undefined;
  /** Hands everything to `sink` from now on. */
  start(sink: BodySink): void;
  /** The sink has room again, after a `write` that returned `false`. */
  resume(): void;
}

/** Takes a body in pieces. */
export interface BodySink {
  /** `false` where the next piece should wait for {@link BodySource.resume}. */
  write(chunk: Buffer): boolean;
  end(): void;
}

const token = /^[\w!#$%&'*+.^`|~-]+$/;
const lineForm = /^[\x21-\x7e\x80-\xff]+$/;
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Writes the head of a request (RFC 9112 §3). Its framing headers are made from the body that will be sent, so the two
 * cannot disagree. They and `Host` come first, since some upstreams drop headers beyond a certain number.
 *
 * @param host for requests that name none
 * @returns Latin-1
 * @throws Error on characters that would end a line early. The ingress rejects them too; this is the second check
 */
export function requestHead(
  { method, target, headers, body }: Omit<OutgoingRequest, 'tenant'>,
  host: string,
): string {
  if (!token.test(method)) throw new Error('a method that is not a token');
  if (!lineForm.test(target)) throw new Error('a target that is not one line');
  let fields = '';
  let named = host;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    if (!token.test(name)) throw new Error('a header name that is not a token');
    if (!valueForm.test(value)) throw new Error('a header value that is not one line');
    const own = ownName(name);
    if (own === 'host') named = value;
    else if (own === null) fields += `${name}: ${value}\r\n`;
  }
  return `${method} ${target} HTTP/1.1\r\nhost: ${named}\r\n${framing(method, body)}${fields}\r\n`;
}

/** The lower-case name where this function writes that header itself, else `null`. The length rules out most names. */
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

/** Methods whose requests state a length of 0 where they have no body (RFC 9110 §8.6). */
const expectsBody = new Set(['POST', 'PUT', 'PATCH']);
