import { hasOption, lengthForm, parseFieldLines } from './fields.ts';
import { MessageFault } from './message-fault.ts';
import { http } from './node-http.ts';
import type { HttpVersion } from './version.ts';

/** Head of a request (RFC 9112 §3). */
export interface RequestHead {
  readonly method: string;
  /** Target as the client wrote it. */
  readonly target: string;
  /** `null` for a version other than 1.0 and 1.1; such a request has a {@link fault}. */
  readonly version: HttpVersion | null;
  /** Flat list of names and values, as the client wrote them. */
  readonly headers: readonly string[];
  /** Number of bytes of the body; `undefined` for a chunked body (RFC 9112 §6.3). */
  readonly bodyLength: number | undefined;
  /** Whether the client will send another request on this connection. */
  readonly keepAlive: boolean;
  /** Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1). */
  readonly expectsContinue: boolean;
  /** Value of `Upgrade` if the client offers another protocol (RFC 9110 §7.8); otherwise `null`. */
  readonly upgrade: string | null;
  /**
   * Reason to reject the request, as a sentence; `null` if there is none. Two servers could disagree about where such a
   * request ends, so nothing behind its head may be read as a request.
   */
  readonly fault: RequestFault | null;
}

/** Reason to reject a request whose head can be read. */
export interface RequestFault {
  readonly code: 'invalid_request' | 'expectation_failed';
  readonly detail: string;
}

/**
 * Methods that are registered (IANA) and a few more, as Node's own parser has them. Any other word in their place is no
 * HTTP.
 */
const methods: ReadonlySet<string> = new Set(http.METHODS);
/** Matches a request line with a target in origin, absolute or asterisk form (RFC 9112 §3.2). */
const requestLine =
  /^([A-Z-]{1,20}) +(\/[\x21-\x7e]*|[A-Za-z]+:\/\/[\w.:%-]+(?:[/?][\x21-\x7e]*)?|\*) +HTTP\/(\d)\.(\d)$/;
/** Matches a request line with a target in authority form, which only CONNECT has. */
const connectLine = /^(CONNECT) +([\w.:[\]-]+) +HTTP\/(\d)\.(\d)$/;
/**
 * Matches a tab in a header that says where the body ends. Tabs around a value are allowed (RFC 9110 §5.5), but not every
 * parser trims them.
 */
const tabbedLength = /^(?:content-length|transfer-encoding):[^\r]*\t/im;
/** Characters of a host and a port (RFC 3986 §3.2.2), but no `@`, comma or blank. Host may be empty (RFC 9112 §3.2). */
const hostForm = /^[\w.~!$&'()*+;=:%[\]-]*$/;

/** Whether bytes that begin with `text`, in Latin-1, could become a request: the method, as far as it has arrived. */
export function mayBecomeRequest(text: string): boolean {
  const end = text.indexOf(' ');
  if (end !== -1) return methods.has(text.slice(0, end));
  return http.METHODS.some((method) => method.startsWith(text));
}

/**
 * Reads the head of a request.
 *
 * @param text Latin-1, up to and including the CRLF of the last line
 * @throws MessageFault if the text is no head, so that nothing in it can be relied on
 */
// eslint-disable-next-line max-lines-per-function -- one pass over the headers
export function parseRequestHead(text: string): RequestHead {
  const lineEnd = text.indexOf('\r\n');
  const first = text.slice(0, lineEnd);
  const line = requestLine.exec(first) ?? connectLine.exec(first);
  if (line === null || !methods.has(line[1] as string)) throw new MessageFault('no request line');
  const method = line[1] as string;
  const headers = parseFieldLines(text, lineEnd + 2);
  const version = line[3] !== '1' ? null : line[4] === '1' ? '1.1' : line[4] === '0' ? '1.0' : null;

  let fault = version === null ? malformed('Its version is neither 1.1 nor 1.0.') : null;
  let bodyLength: number | undefined = 0;
  let connection = '';
  let upgrade: string | null = null;
  let expectsContinue = false;
  let hosts = 0;
  let lengths = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    // Most names are ruled out by their length.
    switch (name.length) {
      case 'host'.length:
        if (name.toLowerCase() !== 'host') break;
        hosts += 1;
        if (!hostForm.test(value)) fault ??= malformed('Its Host is not a host.');
        break;
      case 'expect'.length:
        if (name.toLowerCase() !== 'expect') break;
        if (value.toLowerCase() === '100-continue') expectsContinue = true;
        else fault ??= unknownExpectation;
        break;
      case 'upgrade'.length:
        if (name.toLowerCase() === 'upgrade') upgrade = upgrade === null ? value : `${upgrade}, ${value}`;
        break;
      case 'connection'.length:
        if (name.toLowerCase() === 'connection') connection += `,${value.toLowerCase()}`;
        break;
      case 'content-length'.length:
        if (name.toLowerCase() !== 'content-length') break;
        lengths += 1;
        if (lengthForm.test(value)) bodyLength = Number(value);
        else fault ??= malformed('Its Content-Length is not a number.');
        break;
      case 'transfer-encoding'.length:
        if (name.toLowerCase() !== 'transfer-encoding') break;
        lengths += 1;
        bodyLength = undefined;
        if (value.toLowerCase() !== 'chunked') fault ??= malformed('Its Transfer-Encoding is not `chunked`.');
        if (version === '1.0') fault ??= malformed('HTTP/1.0 has no Transfer-Encoding.');
        break;
      default:
    }
  }
  if (hosts > 1 || (hosts === 0 && version !== '1.0')) fault ??= malformed('It must have one Host.');
  if (lengths > 0 && tabbedLength.test(text)) fault ??= malformed('Its length has a tab around it.');
  if (lengths > 1) fault ??= malformed('Its length is given more than once.');
  const asksClose = hasOption(connection, 'close');
  const asksKeepAlive = hasOption(connection, 'keep-alive');
  // Some servers keep such a connection open, others close it. So they disagree about whether another request follows.
  if (asksKeepAlive && asksClose && version === '1.0')
    fault ??= malformed('It asks to keep the connection and to close it.');
  return {
    method,
    target: line[2] as string,
    version,
    headers,
    bodyLength,
    keepAlive: !asksClose && (version === '1.1' || asksKeepAlive) && method !== 'CONNECT',
    expectsContinue: expectsContinue && version === '1.1',
    upgrade: version === '1.1' && hasOption(connection, 'upgrade') ? upgrade : null,
    fault,
  };
}

const unknownExpectation: RequestFault = {
  code: 'expectation_failed',
  detail: 'The only expectation known here is `100-continue`.',
};

function malformed(reason: string): RequestFault {
  return { code: 'invalid_request', detail: `The request is malformed. ${reason}` };
}
