import type { ReadCredentials } from '../authz/authenticate.ts';
import type { ReadAuthorizationOfOthers } from '../authz/authorization-of-others.ts';
import type { RouteRules } from '../authz/proxied-request.ts';
import type { LimitsConfig, RouteConfig } from '../config.ts';
import type { HeaderNames } from '../domain/header-names.ts';
import type { ProblemForm } from '../http/problem-body.ts';
import type { ClientAddress, TrustedPeers } from '../http/trusted-proxies.ts';
import type { TenantConcurrency } from '../limits/concurrency.ts';
import type { Shedding } from '../limits/load-shedding.ts';
import type { Clock } from '../ports/clock.ts';
import type { Directory } from '../ports/directory.ts';
import type { RateLimiter } from '../ports/limits/rate-limiter.ts';
import type { RequestObserver } from '../ports/request-record.ts';
import type { AllTimers } from '../ports/timers.ts';
import type { Tracer } from '../ports/tracer.ts';
import type { UsageSink } from '../ports/usage.ts';
import type { ActiveExchanges } from './active-exchanges.ts';
import type { FailureLog } from './failure-log.ts';
import type { Caching } from './headers/caching.ts';
import type { CorsPolicy } from './headers/cors.ts';
import type { OutboundHeaders } from './headers/request-headers.ts';
import type { ResponseHeaderFilter } from './headers/response-headers.ts';
import type { OpenRoute } from './open-route.ts';
import type { HandOvers } from './upstream/hand-overs.ts';
import type { ReadBuffers } from './upstream/read-buffers.ts';
import type { Upstream } from './upstream/upstream.ts';

/** Dependencies that the exchanges of all routes share. */
export interface RouteDeps {
  readonly directory: Directory;
  readonly clock: Clock;
  readonly timers: AllTimers;
  readonly usage: UsageSink;
  /** Counts and sends each tick's requests together, at the end of the tick. */
  readonly handOvers: HandOvers;
  /** Buffers that the connections to all upstreams read into. */
  readonly readBuffers: ReadBuffers;
  readonly lookup: Upstream['lookup'];
  /** `null` if requests are not traced. */
  readonly tracer: Tracer | null;
  readonly observe: RequestObserver;
  readonly failures: FailureLog;
  readonly names: HeaderNames;
  readonly isTrusted: TrustedPeers;
  readonly addressOf: ClientAddress;
  readonly readCredentials: ReadCredentials;
  readonly readAuthorizationOfOthers: ReadAuthorizationOfOthers;
  readonly outboundHeaders: OutboundHeaders;
  readonly concurrency: TenantConcurrency;
  readonly shedding: Shedding;
  readonly rateLimiter: Pick<RateLimiter, 'take'>;
  readonly exchanges: ActiveExchanges;
  readonly limits: LimitsConfig;
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
