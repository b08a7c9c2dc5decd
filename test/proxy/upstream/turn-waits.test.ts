// class: app
/** How many requests wait for their turn at the connections of a route, and for how long: what the metrics show of it. */
import { Agent } from 'node:http';
import t, { type Test } from 'tap';
import { Shares } from '../../../src/limits/shares.ts';
import { goodConfig } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { get, named, start } from '../../support/reload.ts';
import { rawClient, requestText } from '../../support/raw-client.ts';
import { ask, openConnections, rawResponse } from '../../support/upstream-client.ts';
import { startTcpUpstream } from '../../support/upstreams.ts';

/** Connections whose waits are kept, to an upstream that responds when it is told to. */
async function open(t: Test, most: number) {
  const waits = { now: 0, overMs: [] as number[] };
  const shares = new Shares({
    began: () => void (waits.now += 1),
    ended: (ms) => {
      waits.now -= 1;
      waits.overMs.push(ms);
    },
  });
  const respond: (() => void)[] = [];
  const upstream = await startTcpUpstream(t, (socket) => {
    respond.push(() => void socket.write(rawResponse('ok')));
  });
  const { connections, clock } = openConnections(t, upstream.url, { most, shares, connectMs: 1_000 });
  return { connections, clock, waits, respond };
}

t.test('requests that find a connection, or one that can be made, wait for no turn', async (t) => {
  const { connections, waits, respond } = await open(t, 8);
  const first = ['a', 'a', 'b'].map((tenant) => ask(connections, '/', null, { tenant }));
  await eventually(() => respond.length === 3);
  for (const each of respond) each();
  await Promise.all(first);
  const again = ask(connections, '/', null, { tenant: 'a' });
  await eventually(() => respond.length === 4);
  respond[3]?.();
  await again;
  t.same(waits, { now: 0, overMs: [] });
});

t.test('those that have to wait are counted until they have a connection', async (t) => {
  const { connections, clock, waits, respond } = await open(t, 1);
  const all = ['a', 'a', 'b'].map((tenant) => ask(connections, '/', null, { tenant }));
  t.same(waits, { now: 2, overMs: [] });
  for (const [i, now] of [2, 1, 0].entries()) {
    await eventually(() => respond.length > i);
    t.equal(waits.now, now);
    clock.nowMs += 100;
    respond[i]?.();
  }
  await Promise.all(all);
  t.same(waits, { now: 0, overMs: [100, 200] });
});

t.test('so are those that wait for too long, and those whose upstream is closed', async (t) => {
  const { connections, clock, waits, respond } = await open(t, 1);
  const first = ask(connections).catch(() => 'failed');
  await eventually(() => respond.length === 1);
  const late = t.rejects(ask(connections), /no connection became free in time/);
  clock.nowMs += 1_001;
  await late;
  t.same(waits, { now: 0, overMs: [1_001] });
  const closed = t.rejects(ask(connections), /is closed/);
  t.equal(waits.now, 1);
  connections.close();
  await closed;
  t.equal(await first, 'failed');
  t.same(waits, { now: 0, overMs: [1_001, 0] });
});

t.test('a request that is sent by another one that gives its connection back is counted once', async (t) => {
  const { connections, waits, respond } = await open(t, 1);
  let asked = 0;
  // It is not sent after all, so the connection goes to the next one in the same tick.
  const sending = (): boolean => ++asked < 0;
  for (let i = 0; i < 10; i++) void ask(connections, '/', null, { sending });
  const last = ask(connections, '/', null, { tenant: 'b' });
  await eventually(() => respond.length === 1);
  respond[0]?.();
  await last;
  await eventually(() => asked === 10);
  t.equal(waits.now, 0);
  t.equal(waits.overMs.length, 10);
});

t.test('a gateway shows them by route, through a reload as well', async (t) => {
  const held = await named(t, 'held', true);
  const yaml = (connections: number): string =>
    `routes: [{ prefix: /, upstream: "${held.url}", connections: ${connections} }]`;
  const { gateway, key, origin, settings, internal } = await start(t, yaml(1));
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const shown = (name: string): Promise<string | undefined> => shownBy(internal, name);
  t.equal(await shown('requests'), '0');
  t.equal(await shown('seconds_count'), '0');

  const asked = [get(agent, `${origin}/`, key), get(agent, `${origin}/`, key)];
  await eventually(async () => (await shown('requests')) === '1');
  await gateway.reload(goodConfig(settings(yaml(2))));
  asked.push(get(agent, `${origin}/`, key));
  await eventually(async () => (await shown('requests')) === '2');
  for (let i = 1; i <= 3; i++) {
    await eventually(() => held.holding() === i);
    held.release();
  }
  for (const { status } of await Promise.all(asked)) t.equal(status, 200);
  t.equal(await shown('requests'), '0');
  t.equal(await shown('seconds_count'), '2');
});

for (const client of ['native', 'undici']) {
  t.test(`a request whose client has left waits no longer: ${client}`, async (t) => {
    const held = await named(t, 'held', true);
    const yaml = `routes: [{ prefix: /, upstream: "${held.url}", connections: 1, client: ${client}, timeouts: { connect_ms: 600000 } }]`;
    const { key, origin, internal } = await start(t, yaml);
    const agent = new Agent();
    const first = get(agent, `${origin}/`, key);
    await eventually(() => held.holding() === 1);
    const leaving = await rawClient(t, Number(new URL(origin).port));
    leaving.send(requestText('GET', '/', [['Authorization', `Bearer ${key}`]]));
    await eventually(async () => (await shownBy(internal, 'requests')) === '1');
    leaving.socket.destroy();
    await eventually(async () => (await shownBy(internal, 'requests')) === '0');
    t.equal(held.holding(), 1, 'while the connection is taken');
    held.release();
    t.equal((await first).status, 200);
  });
}

async function shownBy(
  internal: (method: string, path: string) => Promise<{ readonly text: string }>,
  name: string,
): Promise<string | undefined> {
  const { text } = await internal('GET', '/metrics');
  return new RegExp(`^tenancy_gateway_upstream_queue_${name}\\{route="/"\\} (.*)$`, 'm').exec(text)?.[1];
}
