// class: app, alone
/** The budget for bytes that wait in memory, in a whole gateway: its size, who shares it, and what metrics say of it. */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import t from 'tap';
import { goodConfig } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { start } from '../support/reload.ts';
import { valueOf } from '../support/scrape.ts';

t.test('the budget is 15 % of the memory, or of twice the heap if that is less', async (t) => {
  const most = Math.min(totalmem(), 2 * getHeapStatistics().heap_size_limit);
  for (const memory of [2 ** 28, 2 ** 60, 0]) {
    t.capture(process, 'constrainedMemory', () => memory);
    const expected = Math.floor(0.15 * Math.min(memory || Infinity, most));
    t.equal(goodConfig().limits.heldBytes, expected, `${memory} bytes of memory`);
  }
});

t.test('all listeners share it, and metrics say what is held, cut, and closed for room', async (t) => {
  // So the budget has 600,000 bytes, of which strangers have 150,000.
  t.capture(process, 'constrainedMemory', () => 4_000_000);
  const yaml = `
upstream_url: http://127.0.0.1:1
limits: { max_connections: 64, head_timeout_ms: 600000, body_idle_ms: 600000 }
portal: { port: 0, url: "https://portal.example", name: Portal }
`;
  const { gateway, key, port } = await start(t, yaml);
  const ports = [port, gateway.internalAddress.port, gateway.portalAddress?.port ?? 0] as const;
  const value = (series: string) => valueOf(`http://127.0.0.1:${ports[1]}`, `tenancy_gateway_${series}`);
  const shows = (series: string, is: number) => eventually(async () => (await value(series)) === is);
  const by = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    'Content-Length': '99999',
  };
  const call = requestText('POST', '/v1/sub-accounts', by);
  (await rawClient(t, port)).send(call + '{"name":"'.padEnd(90_000));
  // The empty line behind a head is not kept.
  await shows('held_bytes{holder="callers"}', call.length - 2 + 90_000);

  const head = requestText('GET', `/${'a'.repeat(15_000)}`).slice(0, 15_000);
  for (const to of [...ports, ...ports, ...ports, port]) (await rawClient(t, to)).send(head);
  await shows('held_bytes{holder="strangers"}', 10 * head.length);
  (await rawClient(t, port)).send(head);
  await shows('held_bytes{holder="strangers"}', 150_000);
  t.equal(await value('held_cuts_total{holder="strangers"}'), 1);

  const open = () => value('connections{listener="public"}');
  const before = await open();
  for (let i = 0; i < 64; i++) await rawClient(t, port);
  const closed = () => value('connections_closed_for_room_total{connection="idle"}');
  await eventually(async () => (await open()) + (await closed()) === before + 64);
});
