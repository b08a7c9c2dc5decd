import type { Problem } from '../../domain/problem.ts';
import type { HeaderRules } from '../headers/header-rules.ts';

/** The head of a request, as Node parsed it. */
export interface RequestHead {
  readonly rawHeaders: readonly string[];
  readonly httpVersion: string;
}

/** Makes the judge of request heads: how many headers there are, and whether two readers could cut the message apart differently. */
export function compileFraming(
  rules: HeaderRules,
  maxHeaders: number,
): (head: RequestHead) => Problem | undefined {
  const tooMany: Problem = {
    code: 'headers_too_large',
    detail: `The request has more than ${maxHeaders} headers.`,
  };

  return ({ rawHeaders, httpVersion }) => {
    // Node has to be told not to drop what is beyond its own limit: see server-options.ts.
    if (rawHeaders.length > 2 * maxHeaders) return tooMany;
    // Node's parser reads `GET /path` that ends with a bare LF as HTTP/0.9, and takes headers after it all the same.
    if (httpVersion !== '1.1' && httpVersion !== '1.0')
      return malformed('Its version is neither 1.1 nor 1.0.');
    let hosts = 0;
    let lengths = 0;
    let encodings = 0;
    let kept = false;
    let closed = false;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const value = rawHeaders[i + 1] as string;
      switch (rules(rawHeaders[i] as string).rule) {
        case 'host':
          hosts += 1;
          if (!hostForm.test(value)) return malformed('Its Host is not a host.');
          break;
        case 'content-length':
          lengths += 1;
          if (!lengthForm.test(value)) return malformed('Its Content-Length is not a number.');
          break;
        case 'transfer-encoding':
          encodings += 1;
          if (value.toLowerCase() !== 'chunked') return malformed('Its Transfer-Encoding is not `chunked`.');
          break;
        case 'connection':
          kept ||= keepAliveOption.test(value);
          closed ||= closeOption.test(value);
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
    if (lengths + encodings > 1) return malformed('Its length is given more than once.');
    // Node keeps the connection, others close it, and what follows would be a request for some only.
    if (kept && closed && httpVersion === '1.0')
      return malformed('It asks to keep the connection and to close it.');
    if (encodings > 0 && httpVersion === '1.0') return malformed('HTTP/1.0 has no Transfer-Encoding.');
    return undefined;
  };
}

/** Characters of a host and a port (RFC 3986 §3.2.2); no `@`, no comma, no blanks. May be empty (RFC 9112 §3.2). */
const hostForm = /^[\w.~!$&'()*+;=:%[\]-]*$/;
const keepAliveOption = /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/i;
const closeOption = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
/** More digits than this no JavaScript number holds. */
const lengthForm = /^\d{1,15}$/;

const unknownExpectation: Problem = {
  code: 'expectation_failed',
  detail: 'The only expectation known here is `100-continue`.',
};

/**
 * Dropping these silently would turn a DELETE somebody meant into the POST that carries it, and passing them on lets
 * an upstream execute another method than the acting rules saw.
 */
const methodOverride: Problem = {
  code: 'invalid_request',
  detail: 'Headers that override the method are not accepted: send the method itself.',
};

function malformed(reason: string): Problem {
  return { code: 'invalid_request', detail: `The request is malformed. ${reason}` };
}
