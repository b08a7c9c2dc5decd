import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../../config.ts';
import { methodKind } from '../../domain/method.ts';
import type { Problem } from '../../domain/problem.ts';
import { headerRules } from '../headers/header-rules.ts';
import { notFound } from '../../http/not-found.ts';
import { methodNotServed } from '../problems.ts';
import { headReader, type RequestHead } from './framing.ts';
import { compileTargets, type Target } from './target.ts';
import { upgradeFault } from './websocket-request.ts';

/** What a request is, by its target and its head alone. */
export type Ingress =
  | { readonly kind: 'route'; readonly route: number; readonly head: RequestHead }
  | { readonly kind: 'management' }
  | {
      readonly kind: 'rejected';
      readonly problem: Problem;
      readonly target: Target;
      /** Two readers could see its end in different positions: nothing more on its connection counts as a request. */
      readonly ambiguous: boolean;
    }
  /** Its connection has already sent an ambiguous message: ignore what Node still parses from it. */
  | { readonly kind: 'ignored' };

/** Reads every request to the public listener, before anything else does. */
export interface IngressReader {
  /** Reads target and head, once, whatever the request is for. */
  read(request: IncomingMessage): Ingress;
  /** Where a target leads, by the same rules. */
  readonly targetOf: (rawTarget: string) => Target;
}

/**
 * Makes the reader. A request that passes means the same to every reader: the path that was routed is the path its
 * upstream gets, and all agree where the message ends.
 *
 * @throws Error where two routes have the same prefix, upper and lower case being one
 */
export function ingressReader(config: Pick<Config, 'routes' | 'limits' | 'headers'>): IngressReader {
  const targetOf = compileTargets(config.routes.map((route) => route.prefix));
  const readHead = headReader(headerRules(config.headers), config.limits.maxHeaders);
  /** Connections that have sent an ambiguous message. Node goes on parsing what it has read until the response is out. */
  const ambiguous = new WeakSet<Socket>();

  return {
    targetOf,
    read(request) {
      if (ambiguous.has(request.socket)) return ignored;
      // Node's parser lets the first line of HTTP/2 pass as a request.
      if (request.method === 'PRI') {
        ambiguous.add(request.socket);
        return { kind: 'rejected', problem: notHttp1, target: none, ambiguous: true };
      }
      const target = targetOf(request.url ?? '');
      const kind = methodKind(request.method ?? '');
      const head = readHead(request, kind ?? 'write');
      if ('problem' in head) {
        ambiguous.add(request.socket);
        const problem = target.kind === 'rejected' ? target.problem : head.problem;
        return { kind: 'rejected', problem, target, ambiguous: true };
      }
      switch (target.kind) {
        case 'route': {
          const problem = kind === undefined ? methodNotServed : faultOfUpgrade(request);
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

const ignored: Ingress = { kind: 'ignored' };
const management: Ingress = { kind: 'management' };
const none: Target = { kind: 'none' };
const notHttp1: Problem = { code: 'invalid_request', detail: 'The request is not valid HTTP/1.1.' };

function faultOfUpgrade(request: IncomingMessage): Problem | undefined {
  return request.upgrade ? upgradeFault(request) : undefined;
}
