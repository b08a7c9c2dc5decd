import type { MethodKind } from '../../domain/acting-decision.ts';
import type { Problem } from '../../domain/problem.ts';
import type { HeaderRules } from '../headers/header-rules.ts';

/** Parts of a request head that has passed the framing checks. */
export interface RequestHead {
  readonly kind: MethodKind;
  /** All values of `Authorization`, in order. */
  readonly authorization: readonly string[];
  /** All values of the other headers that carry API keys, in order. */
  readonly apiKeys: readonly string[];
  /** All values of the acting header, in order. */
  readonly acting: readonly string[];
  /** Number of bytes of the body (RFC 9112 §6.3); `undefined` for a chunked body. */
  readonly bodyLength: number | undefined;
}

/** A head as parsed by Node. */
export interface ParsedHead {
  readonly rawHeaders: readonly string[];
  readonly httpVersion: string;
}

/** Reads a head. Returns its parts, or the problem to reject the request with. */
export type ReadHead = (head: ParsedHead, kind: MethodKind) => RequestHead | { readonly problem: Problem };

/**
 * Creates the function that reads heads. The function rejects a message if two servers could disagree about where the
 * message ends, or if it has too many headers. For these checks, the function needs all headers. Node drops headers
 * beyond a limit of its own, so that limit is turned off (`server-options.ts`).
 */
/* eslint-disable max-lines-per-function -- one pass over the headers */
export function headReader(rules: HeaderRules, maxHeaders: number): ReadHead {
  const tooMany: Problem = {
    code: 'headers_too_large',
    detail: `The request has more than ${maxHeaders} headers.`,
  };

  return ({ rawHeaders, httpVersion }, kind) => {
    if (rawHeaders.length > 2 * maxHeaders) return { problem: tooMany };
    // If `GET /path` ends with a bare LF, Node's parser takes it for an HTTP/0.9 request, but still reads headers.
    if (httpVersion !== '1.1' && httpVersion !== '1.0')
      return malformed('Its version is neither 1.1 nor 1.0.');
    let authorization: string[] | undefined;
    let apiKeys: string[] | undefined;
    let acting: string[] | undefined;
    let bodyLength: number | undefined = 0;
    let hosts = 0;
    let lengths = 0;
    let asksKeepAlive = false;
    let asksClose = false;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const value = rawHeaders[i + 1] as string;
      switch (rules.look(rawHeaders[i] as string)) {
        case 'pass':
          break;
        case 'authorization':
          if (authorization === undefined) authorization = [value];
          else authorization.push(value);
          break;
        case 'api-key':
          if (apiKeys === undefined) apiKeys = [value];
          else apiKeys.push(value);
          break;
        case 'acting':
          if (acting === undefined) acting = [value];
          else acting.push(value);
          break;
        case 'host':
          hosts += 1;
          if (!hostForm.test(value)) return malformed('Its Host is not a host.');
          break;
        case 'content-length':
          lengths += 1;
          if (!lengthForm.test(value)) return malformed('Its Content-Length is not a number.');
          bodyLength = Number(value);
          break;
        case 'transfer-encoding':
          lengths += 1;
          if (value.toLowerCase() !== 'chunked') return malformed('Its Transfer-Encoding is not `chunked`.');
          if (httpVersion === '1.0') return malformed('HTTP/1.0 has no Transfer-Encoding.');
          bodyLength = undefined;
          break;
        case 'connection':
          asksKeepAlive ||= keepAliveOption.test(value);
          asksClose ||= closeOption.test(value);
          break;
        case 'framing':
          return malformed('It has a header that could be taken for Content-Length or Transfer-Encoding.');
        case 'expect':
          if (value.toLowerCase() !== '100-continue') return unknownExpectation;
          break;
        case 'override':
          return methodOverride;
        default:
      }
    }
    if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) return malformed('It must have one Host.');
    if (lengths > 1) return malformed('Its length is given more than once.');
    // If an HTTP/1.0 request has both `keep-alive` and `close`, Node keeps the connection open, but other servers close
    // it. So servers could disagree about whether another request follows.
    if (asksKeepAlive && asksClose && httpVersion === '1.0')
      return malformed('It asks to keep the connection and to close it.');
    return {
      kind,
      authorization: authorization ?? none,
      apiKeys: apiKeys ?? none,
      acting: acting ?? none,
      bodyLength,
    };
  };
}
/* eslint-enable max-lines-per-function */

const none: readonly string[] = [];

/** Characters of a host and a port (RFC 3986 §3.2.2), but no `@`, comma or blank. Host may be empty (RFC 9112 §3.2). */
const hostForm = /^[\w.~!$&'()*+;=:%[\]-]*$/;
const keepAliveOption = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i;
const closeOption = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
/** Matches a length of at most 15 digits, because JavaScript cannot represent longer numbers exactly. */
const lengthForm = /^\d{1,15}$/;

const unknownExpectation = {
  problem: {
    code: 'expectation_failed',
    detail: 'The only expectation known here is `100-continue`.',
  },
} as const;

/**
 * Problem for a request with a header that overrides its method. If the gateway dropped the header, the upstream would
 * carry out a POST although the client meant a DELETE. If the gateway passed it on, the upstream would carry out a
 * method that the acting rules were not applied to.
 */
const methodOverride = {
  problem: {
    code: 'invalid_request',
    detail: 'Headers that override the method are not accepted: send the method itself.',
  },
} as const;

function malformed(reason: string): { readonly problem: Problem } {
  return { problem: { code: 'invalid_request', detail: `The request is malformed. ${reason}` } };
}
