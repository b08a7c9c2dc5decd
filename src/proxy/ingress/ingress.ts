import type { Config, RouteConfig } from '../../config.ts';
import { methodKind } from '../../domain/acting-decision.ts';
import type { Problem } from '../../domain/problem.ts';
import type { HeaderRules } from '../headers/header-rules.ts';
import type { ClientRequest, ClientResponse } from '../../http/client-request.ts';
import { notFound } from '../../http/not-found.ts';
import { methodNotServed, ownFault } from '../problems.ts';
import type { Proxy } from '../proxy.ts';
import { headReader, type RequestHead } from './framing.ts';
import { compileTargets, type Target } from './target.ts';
import { offersWebSocket, upgradeFault } from './websocket-request.ts';
import { overloaded, type Shedding } from '../../limits/load-shedding.ts';

/** Result of reading a request's target and head: where the request goes, or why it is rejected. */
export type Ingress =
  | {
      readonly kind: 'route';
      readonly route: number;
      readonly head: RequestHead;
      readonly opensWebSocket: boolean;
    }
  | { readonly kind: 'management' }
  | ({ readonly kind: 'rejected' } & Rejected);

/** A request that is rejected before any route has taken it over. */
interface Rejected {
  readonly problem: Problem;
  readonly target: Target;
  /**
   * Whether two servers could disagree about where the request ends. If so, the response is the last one on the
   * connection, and later bytes are never served as a request.
   */
  readonly ambiguous: boolean;
}

/** Reads every request on the public listener before any other code does. */
export interface IngressReader {
  /** Reads a request's target and head. */
  read(request: ClientRequest): Ingress;
  /** Returns the destination of a target, by the same rules as {@link read}. */
  readonly targetOf: (rawTarget: string) => Target;
}

/**
 * Creates the reader. A request that passes means the same to every server: the upstream gets the path by which the
 * gateway has chosen the route, and all servers agree on where the message ends.
 *
 * @throws Error if two routes have the same prefix, ignoring case
 */
export function ingressReader(config: Pick<Config, 'routes' | 'limits'>, rules: HeaderRules): IngressReader {
  // Each route is compared with each other one, so the addresses are read before.
  const routes = config.routes.map((route) => ({ ...route, upstream: addressOf(route.upstream) }));
  const targetOf = compileTargets(
    routes.map((route) => route.prefix),
    (route, than) => asksMore(routes[route] as Asking, routes[than] as Asking),
  );
  const readHead = headReader(rules, config.limits.maxHeaders);

  return {
    targetOf,
    read(request) {
      const target = targetOf(request.url);
      const kind = methodKind(request.method);
      const head = readHead(request, kind ?? 'write');
      if ('problem' in head) {
        const problem = target.kind === 'rejected' ? target.problem : head.problem;
        return { kind: 'rejected', problem, target, ambiguous: true };
      }
      switch (target.kind) {
        case 'route': {
          const opensWebSocket = offersWebSocket(request);
          const upgradeProblem = opensWebSocket ? upgradeFault(request) : undefined;
          const problem = kind === undefined ? methodNotServed : upgradeProblem;
          return problem === undefined
            ? { kind: 'route', route: target.route, head, opensWebSocket }
            : { kind: 'rejected', problem, target, ambiguous: false };
        }
        case 'management':
          return management;
        case 'rejected':
          return { kind: 'rejected', problem: target.problem, target, ambiguous: false };
        case 'none':
          return { kind: 'rejected', problem: notFound, target, ambiguous: false };
      }
    },
  };
}

/**
 * Returns whether a route asks for a key, a scope or a limit that another route to the same upstream does not ask for.
 * Two upstreams are one if host and port are; `upstream` has only these.
 */
function asksMore({ upstream, open, scopes }: Asking, than: Asking): boolean {
  if (upstream !== than.upstream) return false;
  if (open !== null) return than.open !== null && open.perSecond < than.open.perSecond;
  const needs = (scope: string | null, other: string | null): boolean => scope !== null && scope !== other;
  return than.open !== null || needs(scopes.read, than.scopes.read) || needs(scopes.write, than.scopes.write);
}

type Asking = Pick<RouteConfig, 'upstream' | 'open' | 'scopes'>;

function addressOf(upstream: string): string {
  const { host, pathname } = new URL(upstream);
  return host + pathname;
}

const management: Ingress = { kind: 'management' };
const none: Target = { kind: 'none' };

/** Where a request may go once the ingress has read it. */
export interface Destinations {
  readonly ingress: IngressReader;
  /** Load shedding state. While it is `active`, the dispatcher responds with 503 to requests for upstreams. */
  readonly shedding: Shedding;
  readonly reject: (response: ClientResponse, rejected: Rejected) => void;
  readonly management: (request: ClientRequest) => void;
  readonly proxy: Proxy['take'];
  /** Logs an exception that ended a request before any destination had taken the request over. */
  readonly broke: (error: unknown) => void;
}

/**
 * Creates the function that serves the requests of the public listener: the ingress reads a request, and the dispatcher
 * passes the request to one destination.
 */
export function dispatcher(to: Destinations): (request: ClientRequest, response: ClientResponse) => void {
  const { shedding } = to;
  function dispatch(request: ClientRequest, response: ClientResponse): void {
    const read = to.ingress.read(request);
    switch (read.kind) {
      case 'route': {
        const { route, head, opensWebSocket } = read;
        // What follows the head may be frames, so nothing behind it is read as a request.
        if (opensWebSocket) response.last = true;
        if (!shedding.active) return to.proxy(route, head, response, opensWebSocket);
        return to.reject(response, {
          problem: overloaded,
          target: { kind: 'route', route },
          ambiguous: false,
        });
      }
      case 'management':
        return to.management(request);
      case 'rejected':
        // Counts the rejected request as one from an unknown caller. All rejected requests count against one network
        // with an empty name, because looking up the client's address would cost more than the rejection.
        shedding.shares?.admitsStranger('');
        return to.reject(response, { ...read, ambiguous: read.ambiguous || offersWebSocket(request) });
    }
  }

  return (request, response) => {
    try {
      dispatch(request, response);
    } catch (error) {
      if (response.isBegun) throw error;
      to.broke(error);
      to.reject(response, { problem: ownFault, target: none, ambiguous: true });
    }
  };
}
