// class: chart
/**
 * The chart's alerts about limits, the usage journal and the export of usage, against a live Prometheus that scrapes a real gateway:
 * each is provoked, fires, and is silent again.
 */
import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hourMs } from '../../../src/domain/usage.ts';
import { operatorToken } from '../../support/apis.ts';
import { withoutPrometheus } from '../../support/chart-tools.ts';
import { httpClient } from '../../support/http-client.ts';
import { startPrometheus } from '../../support/live-prometheus.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';
import { parentOf } from '../../support/reload.ts';
import { createParent, freshStore, rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { startUsageReceiver } from '../../support/usage-receiver.ts';
import { addUsage, usageRow } from '../../support/usage-rows.ts';

const hours = 5;

t.test('alerts about limits and usage fire and are silent again', { skip: withoutPrometheus }, async (t) => {
  const { store, url: DATABASE_URL } = await freshStore(t);
  const { id: billed } = await createParent(store.tenants);
  const { id: unknownToBilling } = await createParent(store.tenants);
  const began = Math.floor(Date.now() / hourMs) * hourMs - hours * hourMs;
  const rows = [billed, unknownToBilling].map((id) =>
    usageRow(id, began, { keyId: randomUUID(), requests: 1 }),
  );
  await addUsage({ store }, rows);
  await store.usageExport.begin({ holder: randomUUID(), leaseMs: -1, delayMs: 0, lostAfterMs: 1_000 });
  const since = new Date(began);
  await rawSql(t, DATABASE_URL)`
    update usage_export set began = ${since}, hour = ${since}, held_until = '-infinity'`;

  const receiver = await startUsageReceiver(t);
  receiver.respond = () => 503;
  const redis = await startRedis(t);
  const folder = tempFolder(t);
  const journal = join(folder, 'journal');
  const CONFIG = join(folder, 'gateway.json');
  const usage = { journal_dir: journal, export: { url: receiver.url, delay_s: 0, timeout_ms: 1_000 } };
  writeFileSync(CONFIG, JSON.stringify({ usage, upstream_url: (await startUpstream(t)).url }));
  const env = { CONFIG, DATABASE_URL, REDIS_URL: redis.url, ADMIN_TOKEN: operatorToken };
  const { url, internalUrl } = await startProcess(t, { ...env, USAGE_JOURNAL_DIR: journal });
  const live = await startPrometheus(t, internalUrl);
  await becomes(internalUrl, 200);

  await live.becomes('TenancyGatewayUsageExportLags', 'firing');
  t.pass('an export that is not accepted fires');
  receiver.respond = ({ events }) => (events.some(({ subject }) => subject === unknownToBilling) ? 400 : 204);
  await live.becomes('TenancyGatewayUsageExportRejected', 'firing');
  t.pass('an event that is never accepted fires');
  receiver.respond = () => 204;
  await live.becomes('TenancyGatewayUsageExportLags', 'silent');

  const { id, key } = await parentOf(t, url, internalUrl);
  const limit = (limits: object) =>
    httpClient(t, internalUrl)('PATCH', `/admin/v1/accounts/${id}`, { key: operatorToken, body: { limits } });
  const ask = async (): Promise<void> => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    await response.text();
  };
  /** Requests one after the other until that is so. */
  const asking = async (until: Promise<void>): Promise<void> => {
    let over = false;
    const done = until.finally(() => (over = true));
    while (!over) await ask();
    await done;
  };
  t.equal((await limit({ requests_per_second: 10_000, requests_per_month: 10 })).status, 200);
  for (let i = 0; i < 9; i++) await ask();
  await live.becomes('TenancyGatewayQuotaNearEnd', 'firing');
  t.pass('a quota near its end fires');
  t.equal((await limit({ requests_per_month: 100_000_000 })).status, 200);
  await asking(live.becomes('TenancyGatewayQuotaNearEnd', 'silent'));

  await redis.stop();
  await asking(live.becomes('TenancyGatewayLimiterDegraded', 'firing'));
  t.pass('a limiter that cannot hear of others fires');
  await redis.start();
  await asking(live.becomes('TenancyGatewayLimiterDegraded', 'silent'));

  renameSync(journal, `${journal}.away`);
  writeFileSync(journal, 'no folder');
  await asking(live.becomes('TenancyGatewayUsageJournalUnwritable', 'firing'));
  t.pass('a journal that cannot be written fires');
  rmSync(journal);
  renameSync(`${journal}.away`, journal);
  await asking(live.becomes('TenancyGatewayUsageJournalUnwritable', 'silent'));
  await live.becomes('TenancyGatewayUsageExportRejected', 'silent');
  t.pass('all of them are silent again');
});
