import type { ReadCredentials } from '../authz/authenticate.ts';
import type { ReadAuthorizationOfOthers } from '../authz/authorization-of-others.ts';
import type { RouteRules } from '../authz/proxied-request.ts';
import type { RouteConfig } from '../config.ts';
import type { HeaderNames } from '../domain/header-names.ts';
import type { ProblemForm } from '../http/problem-body.ts';
import type { ClientAddress, TrustedPeers } from '../http/trusted-proxies.ts';
import type { Shedding } from '../limits/load-shedding.ts';
import type { Directory } from '../ports/directory.ts';
import type { RateLimiter } from '../ports/limits/rate-limiter.ts';
import type { RequestObserver } from '../ports/request-record.ts';
import type { Tracer } from '../ports/tracer.ts';
import type { ActiveExchanges } from './active-exchanges.ts';
import type { Caching } from './headers/caching.ts';
import type { CorsPolicy } from './headers/cors.ts';
import type { OutboundHeaders } from './headers/request-headers.ts';
import type { ResponseHeaderFilter } from './headers/response-headers.ts';
import type { OpenRoute } from './open-route.ts';
import type { Upstream, UpstreamDeps } from './upstream/upstream.ts';

/** Dependencies that the exchanges of all routes share. */
export interface RouteDeps extends UpstreamDeps {
  readonly directory: Directory;
  /** `null` if requests are not traced. */
  readonly tracer: Tracer | null;
  readonly observe: RequestObserver;
  readonly names: HeaderNames;
  readonly isTrusted: TrustedPeers;
  readonly addressOf: ClientAddress;
  readonly readCredentials: ReadCredentials;
  readonly readAuthorizationOfOthers: ReadAuthorizationOfOthers;
  readonly outboundHeaders: OutboundHeaders;
  /** Tells which requests to reject while the process is overloaded. */
  readonly shedding: Shedding;
  /** Counts requests against the limits of keys and accounts. */
  readonly rateLimiter: Pick<RateLimiter, 'take'>;
  /** All active exchanges. */
  readonly exchanges: ActiveExchanges;
  readonly problemForm: ProblemForm;
}

/** A configured route, with its upstream and everything else that its exchanges need. */
export interface Route {
  readonly config: RouteConfig;
  readonly rules: RouteRules;
  /** `null` if the route authenticates each request. */
  readonly open: OpenRoute | null;
  /** `null` if the route has no `cors`. */
  readonly cors: CorsPolicy | null;
  readonly caching: Caching;
  readonly responseHeaders: ResponseHeaderFilter;
  readonly upstream: Upstream;
  readonly deps: RouteDeps;
}
