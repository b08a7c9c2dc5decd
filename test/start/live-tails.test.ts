// class: built
/** Live tails of a real process while its configuration changes. */
import { request } from 'node:http';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import t from 'tap';
import { operatorToken } from '../support/apis.ts';
import { eventually } from '../support/eventually.ts';
import { watch, withToken } from '../support/live-watch.ts';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, startProcess, tempFolder } from '../support/process.ts';
import { parentOf } from '../support/reload.ts';
import type { Scope } from '../support/servers.ts';
import { migrated, rawSql } from '../support/store.ts';
import { startRawUpstream } from '../support/upstreams.ts';

const aliceToken = 'alice-token-for-tests-0123456789abcdef';

/** A gateway whose operator Alice can be taken away, and whose upstream streams at `/stream`. */
async function start(t: Scope) {
  const upstream = await startRawUpstream(t, () => (incoming, response) => {
    if (incoming.url === '/stream') response.writeHead(200).write('begun');
    else response.end();
  });
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'alice'), aliceToken);
  const file = join(folder, 'gateway.yaml');
  const alice = `internal: {admin_tokens: {alice: {token_file: ${join(folder, 'alice')}, role: viewer}}}\n`;
  writeFileSync(file, alice);
  const databaseUrl = await freshDatabase(t, migrated);
  const gateway = await startProcess(t, {
    DATABASE_URL: databaseUrl,
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: operatorToken,
    CONFIG: file,
  });
  await becomes(gateway.internalUrl, 200);
  const { id, key } = await parentOf(t, gateway.url, gateway.internalUrl);
  const send = (path: string): void => {
    const headers = { authorization: `Bearer ${key}` };
    const sent = request(`${gateway.url}${path}`, { headers, agent: false }).on('error', () => undefined);
    sent.on('response', (response) => response.on('error', () => undefined).resume()).end();
    t.teardown(() => void sent.destroy());
  };
  const reload = async (yaml: string): Promise<void> => {
    const reloads = (): number =>
      gateway.program.log().filter(({ msg }) => /configuration/.test(String(msg))).length;
    const before = reloads();
    writeFileSync(file, yaml);
    gateway.program.child.kill('SIGHUP');
    await eventually(() => reloads() > before);
  };
  return { ...gateway, id, send, reload, alice, sql: rawSql(t, databaseUrl) };
}

t.test('a tail goes on across SIGHUP, and counts what began before it and after it', async (t) => {
  const { internalUrl, id, send, reload, alice } = await start(t);
  const tail = await watch(t, internalUrl, `?account_id=${id}`);
  const streams = (): number => tail.states().at(-1)?.open.streams ?? 0;
  send('/stream');
  await eventually(() => streams() === 1);
  for (const drainMs of [20_000, 21_000]) await reload(`${alice}drain_ms: ${drainMs}\n`);
  send('/after');
  send('/stream');
  await eventually(() => tail.lines().some(({ path }) => path === '/after'));
  await eventually(() => streams() === 2);
  // Operators and settings are looked at every five seconds.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  send('/later');
  await eventually(() => tail.lines().some(({ path }) => path === '/later'));
  t.equal(tail.isOver(), false);
});

t.test('a tail ends when its operator is taken away, and those of others go on', async (t) => {
  const { internalUrl, send, reload, sql } = await start(t);
  const [ofAlice, ofAdmin] = [
    await watch(t, internalUrl, '', withToken(aliceToken)),
    await watch(t, internalUrl),
  ];
  t.equal(ofAlice.status, 200);
  await reload('drain_ms: 20000\n');
  await eventually(() => ofAlice.isOver());
  t.equal(ofAlice.isWhole(), true, 'it comes to an orderly end');
  t.equal((await watch(t, internalUrl, '', withToken(aliceToken))).status, 401);
  send('/after');
  await eventually(() => ofAdmin.lines().some(({ path }) => path === '/after'));
  t.notOk(ofAlice.lines().some(({ path }) => path === '/after'));
  t.equal((await sql`select from tail`).length, 1);
});
