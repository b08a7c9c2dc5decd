import type { MethodKind } from '../../domain/acting-decision.ts';
import type { Problem } from '../../domain/problem.ts';
import type { ClientRequest } from '../../http/client-request.ts';
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
}

/** Reads a head. Returns its parts, or the problem to reject the request with. */
export type ReadHead = (
  request: Pick<ClientRequest, 'rawHeaders' | 'fault'>,
  kind: MethodKind,
) => RequestHead | { readonly problem: Problem };

/**
 * Creates the function that reads heads. The function rejects a message if two servers could disagree about where the
 * message ends, or if it has too many headers.
 */
export function headReader(rules: HeaderRules, maxHeaders: number): ReadHead {
  const tooMany: Problem = {
    code: 'headers_too_large',
    detail: `The request has more than ${maxHeaders} headers.`,
  };

  return ({ rawHeaders, fault }, kind) => {
    if (rawHeaders.length > 2 * maxHeaders) return { problem: tooMany };
    if (fault !== null) return { problem: fault };
    let authorization: string[] | undefined;
    let apiKeys: string[] | undefined;
    let acting: string[] | undefined;
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
        case 'framing':
          return lookalike;
        case 'override':
          return methodOverride;
        default:
      }
    }
    return {
      kind,
      authorization: authorization ?? none,
      apiKeys: apiKeys ?? none,
      acting: acting ?? none,
    };
  };
}

const none: readonly string[] = [];

/** Problem for a header such as `Content_Length`, which some servers take for the one that says where a body ends. */
const lookalike = {
  problem: {
    code: 'invalid_request',
    detail:
      'The request is malformed. It has a header that could be taken for Content-Length or Transfer-Encoding.',
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
