/** What each WebSocket and each event client does against the gateway, and what it has to come to. */
import { randomBytes, randomUUID } from 'node:crypto';
import { unknownKey } from '../../../bench/lib/tenants.ts';
import { decoded, encoded, type Driver } from './driver.ts';
import { is, type Case } from './http-cases.ts';
import type { ClientUpstream } from './upstream.ts';
import type { Origin } from './world.ts';

/** Where a case runs. */
export interface Where {
  readonly driver: Driver;
  readonly origin: Origin;
  readonly upstream: ClientUpstream;
}

/** Kind and content. */
type Message = readonly [kind: 'text' | 'binary', data: Buffer];

export const webSocketCases: readonly Case<Where>[] = [
  {
    id: 'echo',
    title: 'text and binary, close with a code of its own',
    async run(where) {
      const path = `/chat/${randomUUID()}`;
      const sent: Message[] = [
        ['text', Buffer.from('Łódź ✓')],
        ['binary', randomBytes(300)],
        // More than one frame's worth for some, and more than the 64 KiB of a short length for all.
        ['binary', randomBytes(200_000)],
        ['text', Buffer.from('x'.repeat(70_000))],
      ];
      const steps = [...sent.map(([kind, data]) => `${kind}:${encoded(data)}`), 'close:4000:done'];
      const { opened, messages } = await converse(where, path, steps);
      is(opened, 'open', 'handshake');
      is(messages.join(), sent.map(([kind, data]) => `${kind}:${encoded(data)}`).join(), 'echo');
      const closed = await where.upstream.closed(path);
      is(`${closed.code} ${closed.reason}`, '4000 done', 'close at the service');
    },
  },
  {
    id: 'closed',
    title: 'closed by the service with a code',
    async run(where) {
      const steps = [`text:${encoded('close 4001 moved')}`, 'closed'];
      const { opened, code, reason } = await converse(where, `/chat/${randomUUID()}`, steps);
      is(opened, 'open', 'handshake');
      is(`${code} ${reason}`, '4001 moved', 'close at the client');
    },
  },
  {
    id: 'refused',
    title: 'unknown key: 401',
    async run(where) {
      const origin = { ...where.origin, key: unknownKey() };
      const { opened } = await converse({ ...where, origin }, '/chat', ['closed']);
      is(opened, '401', 'handshake');
    },
  },
];

export const eventCases: readonly Case<Where>[] = [
  {
    id: 'events',
    title: 'events as they are sent, back with Last-Event-ID',
    async run({ driver, origin, upstream }) {
      const path = `/events/${randomUUID()}`;
      const heard = new Heard();
      const listening = driver.ask([urlOf(origin, 'http', path), '4', ...key(origin)], (event) =>
        heard.put(event),
      );
      const failed = listening.then(([how]) => Promise.reject(new Error(`it ended early: ${how}`)));
      failed.catch(() => undefined);
      const next = (): Promise<string> => Promise.race([heard.take(), failed]);

      // Each event is sent only after the one before it has been heard: none waits for another one to push it.
      const first = await Promise.race([upstream.stream(path), failed]);
      is(first.headers['x-service-resolved-tenant'], origin.parentId, 'tenant at the service');
      first.write('retry: 20\n: a comment\n\nid: 1\ndata: first\n\n');
      is(await next(), 'message 1 first', 'first event');
      first.write('id: 2\nevent: moved\ndata: Łódź\ndata: second line\n\n');
      is(await next(), 'moved 2 Łódź\nsecond line', 'second event');
      first.end();

      const second = await Promise.race([upstream.stream(path), failed]);
      is(second.lastEventId, '2', 'Last-Event-ID');
      second.write('id: 3\ndata: thi');
      second.write('rd\n\n');
      is(await next(), 'message 3 third', 'third event');
      second.write('id: 4\ndata: fourth\n\n');
      is((await listening)[0], 'done', 'end');
      is(await heard.take(), 'message 4 fourth', 'fourth event');
      second.end();
    },
  },
  {
    id: 'refused',
    title: 'unknown key: 401',
    async run({ driver, origin }) {
      const asked = [urlOf(origin, 'http', '/events/none'), '1', ...key({ ...origin, key: unknownKey() })];
      is((await driver.ask(asked))[0], '401', 'error at the client');
    },
  },
];

interface Conversation {
  /** `open`, or the status that refused. */
  readonly opened: string | undefined;
  readonly messages: readonly string[];
  readonly code: string | undefined;
  readonly reason: string;
}

async function converse(
  { driver, origin }: Where,
  path: string,
  steps: readonly string[],
): Promise<Conversation> {
  const columns = [urlOf(origin, 'ws', path), steps.join(';'), ...key(origin)];
  const [opened, messages = '', code, reason] = await driver.ask(columns);
  return { opened, messages: messages.split(';'), code, reason: decoded(reason).toString() };
}

function urlOf({ transport, port }: Origin, scheme: 'http' | 'ws', path: string): string {
  return `${scheme}${transport === 'https' ? 's' : ''}://127.0.0.1:${port}${path}`;
}

function key({ key }: Origin): string[] {
  return ['Authorization', `Bearer ${key}`];
}

/** Events in the order in which the client told of them. */
class Heard {
  readonly #events: string[] = [];
  readonly #waiting: ((event: string) => void)[] = [];

  put([, type, id, data]: readonly string[]): void {
    const event = `${type} ${id} ${decoded(data).toString()}`;
    const next = this.#waiting.shift();
    if (next === undefined) this.#events.push(event);
    else next(event);
  }

  take(): Promise<string> {
    const [event] = this.#events.splice(0, 1);
    return event === undefined
      ? new Promise((resolve) => this.#waiting.push(resolve))
      : Promise.resolve(event);
  }
}
