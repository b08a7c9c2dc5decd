// class: pure
/** Events that each need their own request. */
import type { ServerResponse } from 'node:http';
import t from 'tap';
import type { UsageEvent } from '../../../src/domain/usage-event.ts';
import { systemTimers } from '../../../src/ports/timers.ts';
import { openReceiver } from '../../../src/usage/export/receiver.ts';
import type { Scope } from '../../support/servers.ts';
import { startUsageReceiver } from '../../support/usage-receiver.ts';

const events = Array.from({ length: 10 }, (_, i) => ({ source: 'test', id: String(i) }) as UsageEvent);

/** Pushes all events to a system that answers when the test does. */
async function pushAll(t: Scope) {
  const system = await startUsageReceiver(t);
  const waiting: ServerResponse[] = [];
  system.respond = (_, response) => void waiting.push(response);
  const receiver = openReceiver(
    { url: system.url, format: 'single', timeoutMs: 10_000 },
    { authorization: null, ca: null },
    systemTimers,
  );
  t.teardown(() => receiver.close());
  const pushed = receiver.push(events, new AbortController().signal);
  return { system, waiting, pushed };
}

t.test('four requests at a time, and each event once', async (t) => {
  const { system, waiting, pushed } = await pushAll(t);
  for (let answered = 0; answered < events.length; answered++) {
    await system.got(Math.min(answered + 4, events.length));
    t.equal(system.pushes.length, Math.min(answered + 4, events.length));
    waiting.shift()?.writeHead(204).end();
  }
  await pushed;
  t.same(
    system.pushes.map((push) => Number(push.events[0]?.id)).sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
});

t.test('after an error no further event is sent, and an outage counts before a rejected event', async (t) => {
  const { system, waiting, pushed } = await pushAll(t);
  const failed = t.rejects(pushed, /503/);
  await system.got(4);
  for (const status of [422, 204, 503, 204]) waiting.shift()?.writeHead(status).end();
  await failed;
  t.equal(system.pushes.length, 4);
});
