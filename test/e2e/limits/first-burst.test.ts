// class: app
/** A burst over three gateways that keep their limits in PostgreSQL, the first time and after a rest. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { makeParents, operatorClient, operatorToken } from '../../support/apis.ts';
import { configFile, goodConfig } from '../../support/config-files.ts';
import { httpClient } from '../../support/http-client.ts';
import { startInProcess } from '../../support/replicas.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { migrated } from '../../support/store.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { startUpstream } from '../../support/upstreams.ts';

const [rate, burst] = [10, 40];
/** How long an answer takes at least: a busy machine may be later, so that replicas wait for it without a limit. */
const awayMs = 15;

t.test('a burst over three gateways passes whole, the first one too, without Redis', async (t) => {
  const upstream = await startUpstream(t);
  const toPostgres = await TcpProxy.open(t, await freshDatabase(t, migrated));
  const start = async () => {
    const config = goodConfig({
      ...{ PORT: '0', INTERNAL_PORT: '0', DATABASE_URL: toPostgres.url, COHERENCE_LEASE_MS: '60000' },
      ...{ UPSTREAM_URL: upstream.url, ADMIN_TOKEN: operatorToken },
      CONFIG: configFile(t, 'limits:\n  max_event_loop_delay_ms: 0\n'),
    });
    const { origin, internalOrigin } = await startInProcess(t, config);
    return { call: httpClient(t, origin), operator: operatorClient(t, internalOrigin) };
  };
  const fleet = [await start(), await start(), await start()] as const;
  const parent = await makeParents(fleet[0].call, fleet[0].operator)();
  const sub = await parent.create({ name: 'N', limits: { requests_per_second: rate, burst } });
  const key = await sub.mint();
  /** What a burst gets, without the 200s. */
  const rejections = async () => {
    const sent = Array.from({ length: burst }, (_, i) =>
      (fleet[i % 3] ?? fleet[0]).call('GET', '/x', { key }),
    );
    const responses = await Promise.all(sent);
    return responses.filter(({ status }) => status !== 200).map(({ body }) => body);
  };

  toPostgres.delay(awayMs);
  t.same(await rejections(), [], 'the first');
  toPostgres.delay(0);
  await sleep(1_000 * Math.max(1, burst / rate));
  t.same(await rejections(), [], 'after a rest');
});
