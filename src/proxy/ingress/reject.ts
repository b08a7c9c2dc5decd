import type { ClientRequest } from '../../http/client-request.ts';
import { bodyMayBeLong } from '../../http/problem-reply.ts';
import { clientGone, type RequestRecord } from '../../ports/request-record.ts';
import type { Route, RouteDeps } from '../route.ts';
import { writeProblem } from '../write-problem.ts';
import type { Destinations } from './ingress.ts';
import { loggedPath } from '../../domain/logged-path.ts';
import type { Target } from './target.ts';

/** Dependencies of {@link rejecter}. */
export interface RejectDeps extends Pick<RouteDeps, 'clock' | 'problemForm' | 'observe' | 'tracer'> {
  readonly newRequestId: (request: ClientRequest) => string;
  /** Returns a target's name for logs and metrics. The name never contains text from the client. */
  readonly nameOf: (target: Target) => string;
  /** Returns the header rules of the target's route; `undefined` if there is no route. */
  readonly rulesOf: (target: Target) => Pick<Route, 'cors' | 'caching'> | undefined;
}

/**
 * Creates the function that rejects requests for the ingress. It responds with a problem, writes a log line, counts the
 * request and ends its trace.
 */
export function rejecter({
  clock,
  newRequestId,
  problemForm,
  observe,
  tracer,
  nameOf,
  rulesOf,
}: RejectDeps): Destinations['reject'] {
  return (response, { problem, target, ambiguous }) => {
    const { request } = response;
    const startedMs = clock.monotonicMs();
    const requestId = newRequestId(request);
    const route = nameOf(target);
    const trace = tracer?.begin(request, route) ?? null;
    response.onClose = (isWhole) => {
      const status = isWhole ? response.status : clientGone;
      const durationMs = clock.monotonicMs() - startedMs;
      const { code } = problem;
      const record: RequestRecord = {
        ...callerUnknown,
        requestId,
        method: request.method,
        path: loggedPath(request.url),
        route,
        status,
        code,
        durationMs,
        head: request,
      };
      observe(record);
      trace?.end(record);
    };
    if (ambiguous || bodyMayBeLong(request)) response.last = true;
    const { cors, caching } = rulesOf(target) ?? {};
    const headers = cors?.replace([], request.header('origin')) ?? [];
    const vary = caching?.vary ?? '';
    writeProblem(response, problem, { target: request.url, requestId, form: problemForm, headers, vary });
  };
}

/** Fields of the record that stay unknown, because the ingress rejects a request before its key is looked up. */
const callerUnknown = {
  keyId: null,
  caller: null,
  resolvedTenant: null,
  reason: null,
  upstreamMs: null,
  bytesIn: null,
  bytesOut: null,
} as const;
