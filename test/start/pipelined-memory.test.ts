// class: built
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { configFile } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { rawClient, requestText, type RawClient } from '../support/raw-client.ts';
import { valueOf } from '../support/scrape.ts';
import { startUpstream } from '../support/upstreams.ts';
import { startWorkers } from '../support/workers.ts';

const residentBytes = 'process_resident_memory_bytes';

t.test('a heap of 256 MB outlives 180 MB of requests that are pipelined behind slow ones', async (t) => {
  const held: (() => void)[] = [];
  const upstream = await startUpstream(t, ({ target }, response) => {
    if (target === '/slow') held.push(() => response.end());
    else response.end();
  });
  // Under load nothing is shed: only memory is looked at.
  const CONFIG = configFile(t, 'limits: {max_event_loop_delay_ms: 0, max_heap_bytes: 0}');
  const env = { CONFIG, UPSTREAM_URL: upstream.url, NODE_OPTIONS: '--max-old-space-size=256' };
  const { program, port, key, internalUrl } = await startWorkers(t, env, 1);

  const authorization: [string, string] = ['Authorization', `Bearer ${key}`];
  const behind = Array.from({ length: 90 }, (_, i) => [`X-${i}`, 'x'.repeat(160)] as const);
  const bytes = Buffer.from(requestText('GET', '/behind', behind).repeat(998), 'latin1');
  const before = await valueOf(internalUrl, residentBytes);
  const clients: RawClient[] = [];
  for (let i = 0; i < 12; i++) {
    const client = await rawClient(t, port);
    clients.push(client.send(requestText('GET', '/slow', [authorization])).send(bytes));
  }
  await eventually(() => held.length === 12);
  const other = await rawClient(t, port);
  // So many round trips that what is read at all has been read.
  for (let i = 0; i < 200; i++) {
    t.equal((await other.send(requestText('GET', '/', [authorization])).response()).status, 200);
    await sleep(5);
  }
  const grown = (await valueOf(internalUrl, residentBytes)) - before;
  t.comment(`resident memory grew by ${Math.round(grown / 1e6)} MB`);
  t.ok(grown < 80e6, `resident memory grew by ${grown} bytes`);
  for (const end of held) end();
  for (const client of clients) {
    t.equal((await client.response()).status, 200);
    for (let i = 0; i < 998; i++)
      if ((await client.response()).status !== 401) t.fail('what waited is served');
    client.socket.destroy();
  }
  t.ok(program.running);
});
