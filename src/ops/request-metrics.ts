import { Counter, Gauge, type Registry } from 'prom-client';
import { managementPath } from '../domain/paths.ts';
import type { RequestObserver, RequestRecord } from '../ports/request-record.ts';
import type { ConnectionWaits } from '../ports/connection-waits.ts';
import { Histogram } from './histogram.ts';
import { counter } from './metrics.ts';

const prefix = 'tenancy_gateway_';
const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Upper bounds of {@link TrafficReading.durations}, in milliseconds. The last duration bucket has none. */
export const durationBoundsMs: readonly number[] = durationBounds.map((seconds) => seconds * 1_000);

/** Counts since the start of the process, as `/metrics` has them. */
export interface TrafficReading {
  /** Number of requests to the public listener. */
  readonly requests: number;
  /** Number of proxied requests by their duration, WebSockets left out; see {@link durationBoundsMs}. */
  readonly durations: readonly number[];
  /** Number of rejected requests by code. */
  readonly refusals: ReadonlyMap<string, number>;
}

/** Metrics of the requests to the public listener. */
export interface RequestMetrics {
  readonly observe: RequestObserver;
  /** Reads the counts. Requests pay nothing for it. */
  readonly read: () => TrafficReading;
}

/**
 * Measures rate, errors and duration of requests by route and status class, and bytes by route. Counts rejections by
 * code and acting decisions by reason. No label contains text from clients: at most routes × statuses series exist.
 */
export function requestMetrics(registry: Registry): RequestMetrics {
  const routes = new Routes(
    registry,
    'request_duration_seconds',
    'Requests by route and class of status, from the first byte to the last.',
  );
  const upstreamWaits = new Histogram(
    registry,
    `${prefix}upstream_wait_seconds`,
    'Time until the headers of an upstream arrived, by route.',
    durationBounds,
  );
  const rejections = counter(
    registry,
    'refusals_total',
    'Requests that the gateway rejected, by code of the problem.',
    'code',
  );
  const limited = counter(
    registry,
    'too_many_requests_total',
    'Requests that got 429, by the limit that was reached.',
    'limit',
  );
  const decisions = counter(registry, 'acting_decisions_total', 'Permits by reason.', 'reason');
  const upstreamErrors = counter(
    registry,
    'upstream_errors_total',
    'Failures of upstreams, by route and code.',
    'route',
    'code',
  );
  routes.showBytes('request_body_bytes_total', 'Bytes of bodies of proxied requests.', 'bytesIn');
  routes.showBytes(
    'response_body_bytes_total',
    'Bytes of bodies of responses to proxied requests.',
    'bytesOut',
  );

  const waits = new Map<string, (seconds: number) => void>();
  const observe: RequestObserver = (record) => {
    routes.count(record);
    if (record.upstreamMs !== null) waitsOf(record.route)(record.upstreamMs / 1000);
    if (record.reason !== null) decisions.count(record.reason);
    if (record.code === null) return;
    rejections.count(record.code);
    if (record.limit !== undefined) limited.count(record.limit);
    if (record.code.startsWith('upstream_')) upstreamErrors.count(record.route, record.code);
  };
  return { observe, read: () => ({ ...routes.read(), refusals: rejections.read() }) };

  function waitsOf(route: string): (seconds: number) => void {
    let series = waits.get(route);
    if (series === undefined) waits.set(route, (series = upstreamWaits.series({ route })));
    return series;
  }
}

/** Counts operator API requests in separate metrics, so that operators do not distort the metrics about callers. */
export function operatorRequestMetrics(registry: Registry): RequestObserver {
  return listenerMetrics(registry, 'operator', 'to the operator API');
}

/** Counts requests to the portal in separate metrics, because its paths could be those of routes. */
export function portalRequestMetrics(registry: Registry): RequestObserver {
  return listenerMetrics(registry, 'portal', 'to the portal');
}

/** Counts wrong operator tokens. Returns the function that counts one. */
export function tokenGuessMetric(registry: Registry): () => void {
  const guesses = counter(
    registry,
    'operator_token_guesses_total',
    'Requests to the operator API with a token that no operator has.',
  );
  return () => guesses.count();
}

/** Counts requests by route and status, and rejected ones by code. */
function listenerMetrics(registry: Registry, name: string, where: string): RequestObserver {
  const routes = new Routes(
    registry,
    `${name}_request_duration_seconds`,
    `Requests ${where} by route and class of status.`,
  );
  const rejections = counter(
    registry,
    `${name}_refusals_total`,
    `Rejected requests ${where}, by code of the problem.`,
    'code',
  );
  return (record) => {
    routes.count(record);
    if (record.code !== null) rejections.count(record.code);
  };
}

/** Measures look-ups of host names of upstreams. */
export function lookupMetrics(registry: Registry): (ms: number, isFound: boolean) => void {
  const help = 'Time of look-ups of host names of upstreams, by whether an address was found.';
  const times = new Histogram(registry, `${prefix}name_lookup_seconds`, help, durationBounds);
  return (ms, isFound) => times.series({ found: String(isFound) })(ms / 1000);
}

/** One route's counts. */
interface RouteCounts {
  /** Duration observers by status class: 2 for 2xx. */
  readonly durations: Map<number, (seconds: number) => void>;
  bytesIn: number;
  bytesOut: number;
}

/** Durations and bytes by route. A single look-up per request serves both. */
class Routes {
  readonly #registry: Registry;
  readonly #durations: Histogram;
  readonly #byRoute = new Map<string, RouteCounts>();

  constructor(registry: Registry, name: string, help: string) {
    this.#registry = registry;
    this.#durations = new Histogram(registry, prefix + name, help, durationBounds);
  }

  count({ route, status, durationMs, bytesIn, bytesOut }: RequestRecord): void {
    let counts = this.#byRoute.get(route);
    if (counts === undefined) {
      this.#byRoute.set(route, (counts = { durations: new Map(), bytesIn: 0, bytesOut: 0 }));
    }
    if (bytesIn !== null) counts.bytesIn += bytesIn;
    if (bytesOut !== null) counts.bytesOut += bytesOut;
    const statusClass = Math.floor(status / 100);
    let series = counts.durations.get(statusClass);
    if (series === undefined) {
      series = this.#durations.series({ route, status: statusClass === 0 ? 'aborted' : `${statusClass}xx` });
      counts.durations.set(statusClass, series);
    }
    series(durationMs / 1000);
  }

  read(): Pick<TrafficReading, 'requests' | 'durations'> {
    let requests = 0;
    const durations = Array.from({ length: durationBounds.length + 1 }, () => 0);
    this.#durations.read(({ labels, buckets, count }) => {
      requests += count;
      if (!isProxied(labels['route']) || labels['status'] === webSocketStatus) return;
      let bounded = 0;
      for (const [i, amount] of buckets.entries()) {
        durations[i] = (durations[i] ?? 0) + amount;
        bounded += amount;
      }
      durations[buckets.length] = (durations[buckets.length] ?? 0) + count - bounded;
    });
    return { requests, durations };
  }

  /** Exposes the total bytes of each route that has any. */
  showBytes(name: string, help: string, which: 'bytesIn' | 'bytesOut'): void {
    const metric: Counter = new Counter({
      name: prefix + name,
      help,
      labelNames: ['route'],
      registers: [],
      collect: () => {
        metric.reset();
        for (const [route, counts] of this.#byRoute)
          if (counts[which] > 0) metric.inc({ route }, counts[which]);
      },
    });
    this.#registry.registerMetric(metric);
  }
}

/** Class of the status with which a WebSocket begins. Its duration says how long it was open. */
const webSocketStatus = '1xx';

/** Whether a request's route is one of the configuration, and not one of the gateway itself or none. */
function isProxied(route = 'none'): boolean {
  return route !== 'none' && route !== managementPath && !route.startsWith(`${managementPath}/`);
}

/**
 * Exposes how many requests are waiting for one of their route's connections, and how long requests wait. Requests that
 * do not wait appear in neither metric.
 *
 * @returns function that takes a route's prefix and returns an observer for that route's waits
 */
export function connectionWaitMetrics(registry: Registry): (route: string) => ConnectionWaits {
  const times = new Histogram(
    registry,
    `${prefix}upstream_queue_seconds`,
    'Time that requests waited for a connection of their route; requests that did not wait are not counted.',
    durationBounds,
  );
  const byRoute = new Map<string, ConnectionWaits & { readonly count: () => number }>();
  const metric: Gauge = new Gauge({
    name: `${prefix}upstream_queue_requests`,
    help: 'Requests that wait for a connection of their route.',
    labelNames: ['route'],
    aggregator: 'sum',
    registers: [],
    collect: () => byRoute.forEach(({ count }, route) => metric.set({ route }, count())),
  });
  registry.registerMetric(metric);
  return (route) => {
    const present = byRoute.get(route);
    if (present !== undefined) return present;
    const observe = times.series({ route });
    let waiting = 0;
    const waits = {
      count: () => waiting,
      began: () => void (waiting += 1),
      ended: (ms: number) => {
        waiting -= 1;
        observe(ms / 1000);
      },
    };
    byRoute.set(route, waits);
    return waits;
  };
}
