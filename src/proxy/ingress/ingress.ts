import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import { methodKind } from '../../domain/method.ts';
import { ProblemError, type Problem } from '../../domain/problem.ts';
import { compileTargets, type Target } from './target.ts';
import { holdContinue, sendContinue } from './expect-continue.ts';
import { headerRules } from '../headers/header-rules.ts';
import { compileFraming } from './framing.ts';
import { methodNotServed } from '../problems.ts';
import { routeUpgrades } from './accept-upgrades.ts';
import { hardenServer } from '../../http/server-options.ts';
import { upgradeFault } from './websocket-request.ts';

/** What every request to the public listener meets first. */
export interface FrontDoor {
  /** For the option of `Fastify()` of the same name: where the target leads decides which route is taken. */
  readonly rewriteUrl: (request: IncomingMessage) => string;
  /**
   * Judges all of it at once.
   *
   * @returns the route of a request for an upstream that nothing is wrong with; `null` for every other one
   */
  readonly routeOf: (request: IncomingMessage) => number | null;
  /** To be called on the root, before plugins are registered. */
  install(app: FastifyInstance): void;
}

/**
 * Judges the request target and the head before anything else happens, in this order, whatever the request is for.
 *
 * Requests for upstreams are routed by that judgement alone: Fastify's router is shown {@link internalPath} in place
 * of what the client wrote. So it cannot disagree, and cannot stumble over what it does not understand.
 */
export function frontDoor(config: Pick<Config, 'routes' | 'limits' | 'headers'>): FrontDoor {
  const judgeTarget = compileTargets(config.routes.map((route) => route.prefix));
  const judgeHead = compileFraming(headerRules(config.headers), config.limits.maxHeaders);

  return {
    rewriteUrl(request) {
      const written = request.url ?? '';
      const target = judgeTarget(written);
      (request as Judged).gatewayTarget = target;
      return target.kind === 'management' ? written : internalPath(target);
    },

    routeOf(request) {
      if (request.upgrade || (request.socket as Doubtful).gatewayDoubts) return null;
      const target = judgeTarget(request.url ?? '');
      if (target.kind !== 'route' || judgeHead(request) !== undefined) return null;
      return unfitForRoute(request) === undefined ? target.route : null;
    },

    install(app) {
      hardenServer(app.server, config.limits);
      const route: RequestListener = (request, response) => app.routing(request, response);
      holdContinue(app.server, route);
      routeUpgrades(app.server, route);
      app.addHook('onRequest', (request, reply, done) => {
        const { raw } = request;
        // What came in one piece with a message that nobody could cut apart is nobody's request.
        if ((raw.socket as Doubtful).gatewayDoubts) return void reply.hijack();
        raw.url = request.originalUrl;
        const target = (raw as Judged).gatewayTarget;
        const malformed = judgeHead(raw);
        if (malformed !== undefined) {
          // Where the next request begins is anybody's guess.
          (raw.socket as Doubtful).gatewayDoubts = true;
          reply.header('connection', 'close');
        }
        if (target?.kind === 'refused') return done(new ProblemError(target.problem));
        if (malformed !== undefined) return done(new ProblemError(malformed));
        const unfit = target?.kind === 'route' ? unfitForRoute(raw) : undefined;
        done(unfit === undefined ? undefined : new ProblemError(unfit));
      });
      app.addHook('preParsing', (request, _reply, payload, done) => {
        sendContinue(request.raw);
        done(null, payload);
      });
    },
  };
}

/** Where the routes of {@link Target}s are mounted. Nobody outside can ask for these paths: theirs are all rewritten. */
export function internalPath(target: Exclude<Target, { kind: 'management' }>): string {
  return target.kind === 'route' ? (routePaths[target.route] ??= `/-/route/${target.route}`) : '/-/none';
}

const routePaths: string[] = [];

/** The verdict travels with the request: a WeakMap costs more than everything else in here. */
interface Judged extends IncomingMessage {
  gatewayTarget?: Target;
}

/** A connection on which nothing more is a request: Node goes on parsing what it has read until the answer is out. */
interface Doubtful extends Socket {
  gatewayDoubts?: boolean;
}

function unfitForRoute(request: IncomingMessage): Problem | undefined {
  if (methodKind(request.method ?? '') === undefined) return methodNotServed;
  return request.upgrade ? upgradeFault(request) : undefined;
}
