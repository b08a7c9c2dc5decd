import type { FastifyInstance } from 'fastify';
import { outcomeOf } from '../http/outcome.ts';
import type { UsageSink } from '../ports/usage.ts';

/**
 * Notes that the keys of known callers under `app` were used. A call to management is not counted as usage, which is
 * what a parent asks of the API behind the gateway; but a key that only manages is in use all the same.
 */
export function noteKeyUse(app: FastifyInstance, usage: Pick<UsageSink, 'touch'>): void {
  app.addHook('onSend', (request, _reply, _payload, done) => {
    const { caller } = outcomeOf(request);
    if (caller !== undefined) usage.touch(caller.accountId, caller.keyId);
    done();
  });
}
