import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ParentCaller } from '../domain/caller.ts';
import { noteOutcome } from '../http/outcome.ts';

const decorator = 'managementCaller';

/** Makes room for the caller on the requests of `app`. */
export function decorateCaller(app: FastifyInstance): void {
  app.decorateRequest(decorator, null);
}

/** Notes who calls, once the call is allowed. */
export function setCaller(request: FastifyRequest, caller: ParentCaller): void {
  request.setDecorator<ParentCaller | null>(decorator, caller);
  noteOutcome(request, { caller });
}

/** The parent that calls. @throws where the call was not decided about: a route without the guard must not work */
export function callerOf(request: FastifyRequest): ParentCaller {
  const caller = request.getDecorator<ParentCaller | null>(decorator);
  if (caller === null) throw new Error('a management call was handled before it was decided about');
  return caller;
}
