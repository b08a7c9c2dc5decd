/** A billing system that takes usage events, and does what a test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { UsageEvent } from '../../src/domain/usage-event.ts';
import { eventually } from './eventually.ts';
import type { Scope } from './servers.ts';

export interface ReceivedPush {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** As they came, a single one in a list. */
  readonly events: readonly UsageEvent[];
}

export interface UsageReceiver {
  readonly url: string;
  /** Requests that came in whole, in order. */
  readonly pushes: ReceivedPush[];
  /** Events of requests that were accepted, by `source` and `id`, as OpenMeter keeps them: the first counts. */
  readonly accepted: Map<string, UsageEvent>;
  /** What a request is responded with; 204 until a test says otherwise. A test that returns nothing has it wait. */
  respond: (push: ReceivedPush, response: ServerResponse) => number | undefined;
  /** Resolves once so many requests have come. */
  got(pushes: number): Promise<void>;
}

export async function startUsageReceiver(t: Scope): Promise<UsageReceiver> {
  const receiver: { -readonly [Name in keyof UsageReceiver]: UsageReceiver[Name] } = {
    url: '',
    pushes: [],
    accepted: new Map(),
    respond: () => 204,
    got: (pushes) => eventually(() => receiver.pushes.length >= pushes),
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const events = [JSON.parse(body) as UsageEvent | UsageEvent[]].flat();
      const { method = '', url: target = '', headers } = request;
      const push = { method, target, headers, events };
      receiver.pushes.push(push);
      const status = receiver.respond(push, response);
      if (status === undefined) return;
      if (status < 300)
        for (const event of events) {
          const name = `${event.source} ${event.id}`;
          if (!receiver.accepted.has(name)) receiver.accepted.set(name, event);
        }
      response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/events`;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return receiver;
}
