import { catalogue, type ProblemCode } from '../../../src/domain/problem.ts';
import { problemBody, usualTypeBase } from '../../../src/http/problem-body.ts';
import type { Api, Json, OperationText } from './types.ts';
import type { CollectedRoute } from './routes.ts';
import { problemDetails } from './text/problem-details.ts';

/** What each operation may respond by what it is, beside what its text says. */
export function codesOf(api: Api, route: CollectedRoute, text: OperationText): readonly ProblemCode[] {
  const { never = [], problems = [] } = text;
  const writes = route.method !== 'GET';
  const codes = new Set<ProblemCode>([
    'invalid_target',
    'invalid_request',
    'unauthenticated',
    'request_timeout',
    'expectation_failed',
    'headers_too_large',
    'internal',
    'unavailable',
    ...(route.path.includes('{') ? (['not_found'] as const) : []),
    ...(writes ? (['payload_too_large'] as const) : []),
    ...(route.schema.body === undefined ? [] : (['unsupported_media_type'] as const)),
    ...(takesIdempotencyKey(route, text) ? (['idempotency_in_flight', 'idempotency_mismatch'] as const) : []),
    ...(api.callers === 'parents' ? codesForParents(writes) : []),
    ...(route.role === undefined || route.role === 'viewer' ? [] : (['insufficient_role'] as const)),
    ...problems,
  ]);
  for (const code of never) codes.delete(code);
  // In the order of the catalogue.
  return (Object.keys(catalogue) as ProblemCode[]).filter((code) => codes.has(code));
}

function codesForParents(writes: boolean): readonly ProblemCode[] {
  return [
    'invalid_acting_tenant',
    ...(writes ? (['acting_tenant_required'] as const) : []),
    'invalid_api_key',
    'api_key_revoked',
    'api_key_expired',
    'account_suspended',
    'account_deactivated',
    'parent_key_required',
    'insufficient_scope',
    'acting_tenant_forbidden',
    'too_many_requests',
    'overloaded',
  ];
}

/** Whether an operation may be sent again under an `Idempotency-Key`. */
export function takesIdempotencyKey({ method }: CollectedRoute, text: OperationText): boolean {
  return method === 'POST' && text.noIdempotency !== true;
}

/** The name of the response component of a status, where it has the codes that most operations have. */
const statusNames: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'RequestTimeout',
  409: 'Conflict',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  417: 'ExpectationFailed',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalServerError',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
  504: 'GatewayTimeout',
};

/** Makes the responses of rejections, and remembers them as components. */
export class ProblemResponses {
  /** By name. */
  readonly responses: Record<string, Json> = {};
  /** By name. */
  readonly examples: Record<string, Json> = {};
  /** Codes that every operation has that has their status at all. */
  readonly #common: ReadonlySet<ProblemCode>;

  /** @param operations the codes of every operation */
  constructor(operations: readonly (readonly ProblemCode[])[]) {
    this.#common = commonCodes(operations);
  }

  /** The responses of one operation, by status. */
  of(codes: readonly ProblemCode[]): Record<string, Json> {
    const refs: Record<string, Json> = {};
    for (const [status, set] of byStatus(codes)) {
      const name = this.#nameOf(status, set);
      this.responses[name] ??= this.#response(status, set);
      refs[String(status)] = { $ref: `#/components/responses/${name}` };
    }
    return refs;
  }

  /** `BadRequest` for the codes that all operations have with this status, `BadRequestScopeNotGrantable` with another one. */
  #nameOf(status: number, codes: readonly ProblemCode[]): string {
    const more = codes.filter((code) => !this.#common.has(code));
    return (statusNames[status] ?? `Status${status}`) + more.map(pascal).join('');
  }

  #response(status: number, codes: readonly ProblemCode[]): Json {
    for (const code of codes) this.examples[pascal(code)] = exampleOf(code);
    return {
      description: codes.map((code) => `\`${code}\`: ${catalogue[code].title}.`).join('\n\n'),
      headers: headersOf(status),
      content: {
        'application/problem+json': {
          schema: {
            $ref: '#/components/schemas/Problem',
            properties: { status: { const: status }, code: { enum: codes } },
          },
          examples: Object.fromEntries(
            codes.map((code) => [code, { $ref: `#/components/examples/${pascal(code)}` }]),
          ),
        },
      },
    };
  }
}

function headersOf(status: number): Json {
  return {
    'X-Request-Id': header('RequestId'),
    ...(status === 401 && { 'WWW-Authenticate': header('WwwAuthenticate') }),
    ...([429, 503].includes(status) && { 'Retry-After': header('RetryAfter') }),
    ...(status === 409 && { 'Retry-After': header('RetryAfterInFlight') }),
  };
}

/** A reference to a header. */
export function header(name: string): Json {
  return { $ref: `#/components/headers/${name}` };
}

function exampleOf(code: ProblemCode): Json {
  const { detail, instance = '/v1/sub-accounts', ...more } = problemDetails[code] ?? { detail: '' };
  const context = { instance, requestId: '9f86d081884c7d659a2feaa0c55ad015', typeBase: usualTypeBase };
  return {
    summary: catalogue[code].title,
    value: JSON.parse(problemBody({ code, detail, ...more }, context)) as unknown,
  };
}

function byStatus(codes: readonly ProblemCode[]): ReadonlyMap<number, readonly ProblemCode[]> {
  const map = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = catalogue[code];
    map.set(status, [...(map.get(status) ?? []), code]);
  }
  return map;
}

function commonCodes(operations: readonly (readonly ProblemCode[])[]): ReadonlySet<ProblemCode> {
  const all = new Set(operations.flat());
  return new Set(
    [...all].filter((code) => {
      const { status } = catalogue[code];
      const having = operations.filter((codes) => codes.some((each) => catalogue[each].status === status));
      return having.every((codes) => codes.includes(code));
    }),
  );
}

function pascal(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
