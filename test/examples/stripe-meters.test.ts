// class: built
/** The example that makes meter events of Stripe, against a stand-in for Stripe's API that counts identifiers once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { AccountId } from '../../src/domain/ids.ts';
import { usageEvent } from '../../src/domain/usage-event.ts';
import { systemTimers } from '../../src/ports/timers.ts';
import { deliverEvents } from '../../src/usage/export/deliver-events.ts';
import { openReceiver } from '../../src/usage/export/receiver.ts';
import { hour, usageRow } from '../support/usage-rows.ts';
import { unusedPort } from '../servers/unused-port.mjs';
import { startUpstream } from '../support/upstreams.ts';

const script = fileURLToPath(new URL('../../examples/stripe-meters/server.mjs', import.meta.url));

t.test(
  'usage events become meter events, each once, and what Stripe says is what the gateway hears',
  async (t) => {
    const identifiers = new Set<string>();
    let broken = false;
    const stripe = await startUpstream(t, ({ body }, response) => {
      const fields = new URLSearchParams(body.toString());
      const identifier = fields.get('identifier') ?? '';
      const message = identifiers.has(identifier)
        ? `An event already exists with identifier ${identifier}.`
        : 'No such customer.';
      if (broken) return void response.writeHead(500).end();
      if (identifiers.has(identifier) || !fields.get('payload[stripe_customer_id]')?.startsWith('cus_'))
        return void response.writeHead(400).end(JSON.stringify({ error: { message } }));
      identifiers.add(identifier);
      response.writeHead(200).end('{}');
    });
    const port = await unusedPort();
    const STRIPE_KEY_FILE = join(t.testdir({}), 'key');
    writeFileSync(STRIPE_KEY_FILE, 'sk_test_1\n');
    const child = spawn(process.execPath, [script], {
      env: {
        PATH: process.env['PATH'],
        PORT: String(port),
        STRIPE_URL: stripe.url.replace(/\/$/, ''),
        STRIPE_KEY_FILE,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');

    const at = Math.floor(Date.now() / hour) * hour - hour;
    const event = (accountId: string, externalId: string | null, requests: number) =>
      usageEvent(
        {
          ...usageRow(accountId, at, { requests }),
          ...{ parentId: accountId as AccountId, externalId, correction: null },
        },
        { source: 'urn:uuid:0190a0a0-0000-7000-8000-00000000000f', subject: 'external_id' },
      );
    const [ada, idle, own] = [event('a', 'cus_ada', 7), event('b', 'cus_idle', 0), event('c', null, 1)];
    const receiver = openReceiver(
      { url: `http://127.0.0.1:${port}/`, format: 'single', timeoutMs: 10_000 },
      { authorization: null, ca: null },
      systemTimers,
    );
    t.teardown(() => receiver.close());
    const push = (events: (typeof ada)[]) => deliverEvents(receiver, events, new AbortController().signal);
    t.match(await push([ada, idle, own]), [
      { event: own, error: { status: 400, message: /No such customer/ } },
    ]);
    t.same(Object.fromEntries(new URLSearchParams(stripe.received[0]?.body.toString())), {
      event_name: 'api_requests',
      identifier: `a/${new Date(at).toISOString().slice(0, 13)}`,
      timestamp: String(at / 1000),
      'payload[stripe_customer_id]': 'cus_ada',
      'payload[value]': '7',
    });
    t.same(stripe.received[0]?.values('authorization'), ['Bearer sk_test_1']);
    const old = { ...ada, id: 'old', time: '2020-01-01T00:00:00.000Z' };
    t.same(await push([old]), [], 'what Stripe would not take any more is left out');
    t.same(await push([ada]), [], 'sent again it is accepted');
    t.equal(identifiers.size, 1, 'and counts once');
    broken = true;
    await t.rejects(push([ada]), /responded with 500/);
  },
);
