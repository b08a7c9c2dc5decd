// class: app
import t from 'tap';
import { everythingThatFollows } from '../support/coherence/manual-time.ts';
import { drainingListener } from '../support/draining-listener.ts';
import { eventually } from '../support/eventually.ts';
import { requestText } from '../support/raw-client.ts';

const get = requestText('GET', '/');
/** The limit never comes: time moves only where a test moves it. */
const plan = { limitMs: 1_000_000, idleMs: 2_000 };

for (const tls of [false, true]) {
  const over = tls ? ' (TLS)' : '';

  t.test(`idle, silent and never used connections stay for their time and no longer${over}`, async (t) => {
    const listener = await drainingListener(t, { serve: (_request, response) => response.end('ok'), tls });
    const used = await listener.connect();
    await used.send(get).response();
    const never = await listener.connect();
    const draining = listener.drain(plan);
    await listener.time.advance(1_999);
    t.notOk(used.closed || never.closed || draining.over());
    await listener.time.advance(1);
    t.equal(await draining.cut, 0);
    await Promise.all([used.end(), never.end()]);
    t.equal(used.broken() ?? never.broken(), undefined, 'closed, not reset');
  });

  t.test(`meanwhile requests are served, also on new connections, each as the last${over}`, async (t) => {
    const listener = await drainingListener(t, { serve: (_request, response) => response.end('ok'), tls });
    const kept = await listener.connect();
    t.equal((await kept.send(get).response()).headers['connection'], 'keep-alive');
    const draining = listener.drain(plan);
    await listener.time.advance(1_000);
    const later = await listener.connect();
    for (const client of [kept, later]) {
      t.match(await client.send(get).response(), { body: 'ok', headers: { connection: 'close' } });
      await client.end();
      t.equal(client.broken(), undefined);
    }
    t.notOk(draining.over(), 'it is still listening');
    await listener.time.advance(1_000);
    t.equal(await draining.cut, 0);
    await t.rejects(listener.connect(), { code: 'ECONNREFUSED' });
  });

  t.test(`a request that arrives as its connection is closed is served${over}`, async (t) => {
    const listener = await drainingListener(t, {
      serve: (_request, response) => response.end('ok'),
      tls,
      // Written, and not yet read at the other end when the time is over there.
      onTimer: (drainingMs) => drainingMs === plan.idleMs && client.send(get),
    });
    const client = await listener.connect();
    await client.send(get).response();
    const draining = listener.drain(plan);
    await listener.time.advance(plan.idleMs);
    t.match(await client.response(), { body: 'ok', headers: { connection: 'close' } });
    t.equal(await draining.cut, 0);
  });

  t.test(`a connection that was opened, or fell idle, late has the whole time as well${over}`, async (t) => {
    const listener = await drainingListener(t, { tls });
    const busy = await listener.connect();
    busy.send(get);
    await eventually(() => listener.held.length === 1);
    // Its head has promised to keep the connection.
    listener.held[0]?.response.write('first ');
    const draining = listener.drain(plan);
    await listener.time.advance(1_500);
    const late = await listener.connect();
    listener.held[0]?.response.end('second');
    t.match(await busy.response(), { body: 'first second', headers: { connection: 'keep-alive' } });
    await listener.time.advance(1_500);
    t.notOk(busy.closed || late.closed);
    busy.send(get);
    late.send(get);
    await eventually(() => listener.held.length === 3);
    for (const { response } of listener.held.slice(1)) response.end('ok');
    for (const client of [busy, late])
      t.match(await client.response(), { body: 'ok', headers: { connection: 'close' } });
    t.equal(await draining.cut, 0);
  });

  t.test(`a connection on which a request has begun to arrive is not idle${over}`, async (t) => {
    const listener = await drainingListener(t, { serve: (_request, response) => response.end('ok'), tls });
    const [fresh, kept] = [await listener.connect(), await listener.connect()];
    await kept.send(get).response();
    const before = kept.bytesRead();
    for (const client of [fresh, kept]) client.send(get.slice(0, 10));
    await eventually(() => fresh.bytesRead() === 10 && kept.bytesRead() === before + 10);
    const draining = listener.drain(plan);
    await listener.time.advance(10_000);
    for (const client of [fresh, kept]) {
      client.send(get.slice(10));
      t.match(await client.response(), { body: 'ok', headers: { connection: 'close' } });
    }
    t.equal(await draining.cut, 0);
  });

  t.test(`what is left when the time is over is cut, and counted${over}`, async (t) => {
    const listener = await drainingListener(t, { tls });
    const client = await listener.connect();
    client.send('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    await eventually(() => listener.upgraded.length === 1);
    const draining = listener.drain({ limitMs: 20_000, idleMs: 2_000 });
    await listener.time.advance(19_999);
    t.notOk(client.closed);
    await listener.time.advance(1);
    t.equal(await draining.cut, 1);
    await client.end();
  });
}

t.test('where no client is connected, or no time is given, it is over at once', async (t) => {
  const empty = await drainingListener(t);
  t.equal(await empty.drain(plan).cut, 0);
  const listener = await drainingListener(t, { serve: (_request, response) => response.end('ok') });
  const client = await listener.connect();
  await client.send(get).response();
  t.equal(await listener.drain({ limitMs: 1_000_000, idleMs: 0 }).cut, 0);
});

t.test('who refuses connections says so, and goes on saying it until the last is closed', async (t) => {
  const listener = await drainingListener(t);
  const client = await listener.connect();
  client.send(get);
  await eventually(() => listener.held.length === 1);
  let told = 0;
  const draining = listener.drain({ ...plan, onRefusing: () => (told += 1) });
  await listener.time.advance(1_999);
  t.equal(told, 0);
  await listener.time.advance(1);
  t.equal(told, 1);
  await listener.time.advance(2_000);
  t.ok(told > 1);
  listener.held[0]?.response.end();
  await draining.cut;
  const then = told;
  await listener.time.advance(10_000);
  await everythingThatFollows();
  t.equal(told, then);
});
