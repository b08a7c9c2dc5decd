import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import { ProblemError } from '../../domain/problem.ts';
import type { LiveTail, LiveTails } from '../../ports/live-tails.ts';
import type { TailFilter } from '../../ports/tails.ts';
import { queryId } from '../rest/query-id.ts';
import { closed } from '../rest/typebox.ts';
import { problemOfCaller, type OperatorAccess, type OperatorApp } from './operator-token.ts';

export interface LiveDeps {
  readonly liveTails: LiveTails;
  readonly operatorTokens: OperatorAccess['tokens'];
  readonly operatorSessions: OperatorAccess['sessions'];
}

const query = closed({
  account_id: Type.Optional(Type.String()),
  api_key_id: Type.Optional(Type.String()),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
});

/** Number of readings, two a second, from one check of the operator to the next. */
const checkEvery = 10;
/** Number of readings without an event after which a comment is sent, so that no proxy takes the stream for dead. */
const quietMost = 20;

/**
 * `GET /live`: streams the requests of all replicas as Server-Sent Events. The stream ends when the operator's token or
 * session does, when this process is about to end, and when the store cannot be reached.
 */
export function liveRoute(app: OperatorApp, deps: LiveDeps): void {
  app.get(
    '/live',
    { schema: { querystring: query, response: { 200: Type.String() } }, config: { role: 'viewer' } },
    async (request, reply) => {
      const filter = filterOf(request.query);
      // The response to a HEAD has no body, so nothing is streamed.
      if (request.method === 'HEAD') return send(reply, '');
      const tail = await deps.liveTails.open(filter);
      if (tail === null) throw new ProblemError(tooManyTails);
      // A stream that was never begun does not end the tail itself.
      const close = (): void => void tail.close();
      if (reply.raw.destroyed) close();
      else reply.raw.once('close', close);
      const events = streamOf(tail, () => mayGoOn(deps, request));
      return send(reply, events);
    },
  );
}

/** Sends events. nginx would buffer them without the last header. The cast is necessary because the route declares text. */
function send(reply: FastifyReply, events: Readable | string): never {
  return reply
    .type('text/event-stream; charset=utf-8')
    .header('x-accel-buffering', 'no')
    .send(events) as never;
}

function filterOf(sent: Static<typeof query>): TailFilter {
  const accountId = queryId('account_id', sent.account_id);
  const keyId = queryId('api_key_id', sent.api_key_id);
  return {
    ...(accountId !== undefined && { accountId }),
    ...(keyId !== undefined && { keyId }),
    ...(sent.code !== undefined && { code: sent.code }),
  };
}

/** Whether the operator's token or session is still in force. If the store cannot tell, it counts as ended. */
async function mayGoOn(
  { operatorTokens, operatorSessions }: LiveDeps,
  request: FastifyRequest,
): Promise<boolean> {
  const access = { tokens: operatorTokens, sessions: operatorSessions };
  return (await problemOfCaller(access, request)) === undefined;
}

/** Streams the events of a tail. While the client reads nothing, the tail is not read either. */
function streamOf(tail: LiveTail, mayGoOn: () => Promise<boolean>): Readable {
  async function* texts(): AsyncGenerator<string> {
    try {
      yield* eventsOf(tail, mayGoOn);
    } catch {
      // The store is away. The end of the stream tells the client to ask again.
    } finally {
      await tail.close();
    }
  }
  return Readable.from(texts(), { objectMode: false });
}

async function* eventsOf(tail: LiveTail, mayGoOn: () => Promise<boolean>): AsyncGenerator<string> {
  let state = stateEvent(tail);
  yield state;
  for (let readings = 1, quiet = 0; ; readings++) {
    if (readings % checkEvery === 0 && !(await mayGoOn())) return;
    const reading = await tail.next();
    if (reading === null) return;
    let text = reading.lines.map((line) => `data: ${line}\n\n`).join('');
    const next = stateEvent(reading);
    if (next !== state) text += state = next;
    quiet = text === '' ? quiet + 1 : 0;
    if (quiet >= quietMost) [text, quiet] = [': still here\n\n', 0];
    if (text !== '') yield text;
  }
}

function stateEvent({ state: { replicas, sampled, dropped, open } }: Pick<LiveTail, 'state'>): string {
  const { requests, streams } = open;
  const state = { replicas, sampled, dropped, open: { requests, streams } };
  return `event: state\ndata: ${JSON.stringify(state)}\n\n`;
}

const tooManyTails = {
  code: 'limit_reached',
  detail: 'As many live tails as the fleet may have are open. Close one, then try again.',
} as const;
