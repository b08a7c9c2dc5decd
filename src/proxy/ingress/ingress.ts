import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../../config.ts';
import { methodKind } from '../../domain/acting-decision.ts';
import type { Problem } from '../../domain/problem.ts';
import type { HeaderRules } from '../headers/header-rules.ts';
import { breakConnection } from '../../http/guarded.ts';
import { notFound } from '../../http/not-found.ts';
import { methodNotServed, ownFault } from '../problems.ts';
import { headReader, type RequestHead } from './framing.ts';
import { compileTargets, isManagement, type Target } from './target.ts';
import { offersWebSocket, upgradeFault } from './websocket-request.ts';
import { overloaded, type Shedding } from '../../limits/load-shedding.ts';
import { upgradeResponse } from './accept-upgrades.ts';
import { noteContinue } from './expect-continue.ts';

/** Result of reading a request's target and head: where the request goes, or why it is rejected. */
export type Ingress =
  | { readonly kind: 'route'; readonly route: number; readonly head: RequestHead }
  | { readonly kind: 'management' }
  | {
      readonly kind: 'rejected';
      readonly problem: Problem;
      readonly target: Target;
      /**
       * Whether two servers could disagree about where the request ends. If so, the response is the last one on the
       * connection, and later bytes are never served as a request (`server/pipelining.ts`).
       */
      readonly ambiguous: boolean;
    };

/** Reads every request on the public listener before any other code does. */
export interface IngressReader {
  /** Reads a request's target and head. */
  read(request: IncomingMessage): Ingress;
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
  const targetOf = compileTargets(config.routes.map((route) => route.prefix));
  const readHead = headReader(rules, config.limits.maxHeaders);

  return {
    targetOf,
    read(request) {
      // Node's parser accepts the first line of HTTP/2 as a request.
      if (request.method === 'PRI')
        return { kind: 'rejected', problem: notHttp1, target: none, ambiguous: true };
      const target = targetOf(request.url ?? '');
      const kind = methodKind(request.method ?? '');
      const head = readHead(request, kind ?? 'write');
      if ('problem' in head) {
        const problem = target.kind === 'rejected' ? target.problem : head.problem;
        return { kind: 'rejected', problem, target, ambiguous: true };
      }
      switch (target.kind) {
        case 'route': {
          const problem = kind === undefined ? methodNotServed : faultOfUpgrade(request, head);
          return problem === undefined
            ? { kind: 'route', route: target.route, head }
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

const management: Ingress = { kind: 'management' };
const none: Target = { kind: 'none' };
const notHttp1: Problem = { code: 'invalid_request', detail: 'The request is not valid HTTP/1.1.' };

function faultOfUpgrade(request: IncomingMessage, head: RequestHead): Problem | undefined {
  return request.upgrade ? upgradeFault(request, head) : undefined;
}

/** Where a request may go once the ingress has read it. */
export interface Destinations {
  readonly ingress: IngressReader;
  /** Load shedding state. While it is `active`, the dispatcher responds with 503 to requests for upstreams. */
  readonly shedding: Shedding;
  readonly reject: (
    request: IncomingMessage,
    response: ServerResponse,
    rejected: { readonly problem: Problem; readonly target: Target; readonly ambiguous: boolean },
  ) => void;
  readonly management: (request: IncomingMessage, response: ServerResponse) => void;
  readonly proxy: (
    route: number,
    head: RequestHead,
    request: IncomingMessage,
    response: ServerResponse,
  ) => void;
  /** Logs an exception that ended a request before any destination had taken the request over. */
  readonly broke: (error: unknown) => void;
}

/** The public listener's functions, one for each Node event that delivers a request. */
export interface Dispatcher {
  request(request: IncomingMessage, response: ServerResponse): void;
  /** Returns `false` to ignore an offer to upgrade. The server then reads the request again, as a plain one. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): boolean;
  checkContinue(request: IncomingMessage, response: ServerResponse): void;
  checkExpectation(request: IncomingMessage, response: ServerResponse): void;
}

/**
 * Creates the dispatcher. Requests from all Node events enter through it: the ingress reads a request, and the
 * dispatcher passes the request to one destination.
 */
export function dispatcher({
  ingress,
  shedding,
  reject,
  management,
  proxy,
  broke,
}: Destinations): Dispatcher {
  function request(request: IncomingMessage, response: ServerResponse): void {
    try {
      dispatch(request, response);
    } catch (error) {
      if (response.headersSent) return breakConnection(request.socket, error);
      broke(error);
      reject(request, response, { problem: ownFault, target: none, ambiguous: true });
    }
  }

  function dispatch(request: IncomingMessage, response: ServerResponse): void {
    const read = ingress.read(request);
    switch (read.kind) {
      case 'route': {
        const { route, head } = read;
        if (!shedding.active) return proxy(route, head, request, response);
        const target: Target = { kind: 'route', route };
        return reject(request, response, { problem: overloaded, target, ambiguous: false });
      }
      case 'management':
        return management(request, response);
      case 'rejected':
        // Counts the rejected request as one from an unknown caller. All rejected requests count against one network
        // with an empty name, because looking up the client's address would cost more than the rejection.
        shedding.shares?.admitsStranger('');
        return reject(request, response, read);
    }
  }

  return {
    request,
    upgrade(message, socket, head) {
      if (message.method !== 'CONNECT') {
        if (!offersWebSocket(message)) return false;
        if (isManagement(message.url ?? '')) return false;
      }
      request(message, upgradeResponse(message, socket, head));
      return true;
    },
    checkContinue(message, response) {
      noteContinue(message, response);
      request(message, response);
    },
    // The ingress rejects any expectation other than `100-continue`.
    checkExpectation: request,
  };
}
