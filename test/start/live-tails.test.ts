// class: built
/** Live tails of a real process while its configuration changes. */
import { request } from 'node:http';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import t from 'tap';
import { configFile } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { watch, withToken } from '../support/live-watch.ts';
import { tempFolder } from '../support/process.ts';
import type { Scope } from '../support/servers.ts';
import { rawSql } from '../support/store.ts';
import { startRawUpstream } from '../support/upstreams.ts';
import { startWorkers } from '../support/workers.ts';

const aliceToken = 'alice-token-for-tests-0123456789abcdef';

/** A gateway whose operator Alice can be taken away, and whose upstream streams at `/stream`. */
async function start(t: Scope) {
  const upstream = await startRawUpstream(t, () => (incoming, response) => {
    if (incoming.url === '/stream') response.writeHead(200).write('begun');
    else response.end();
  });
  const token = join(tempFolder(t), 'alice');
  writeFileSync(token, aliceToken);
  const alice = `internal: {admin_tokens: {alice: {token_file: ${token}, role: viewer}}}\n`;
  const CONFIG = configFile(t, alice);
  const gateway = await startWorkers(t, { UPSTREAM_URL: upstream.url, CONFIG }, 1);
  const send = (path: string): void => {
    const headers = { authorization: `Bearer ${gateway.key}` };
    const sent = request(`${gateway.url}${path}`, { headers, agent: false }).on('error', () => undefined);
    sent.on('response', (response) => response.on('error', () => undefined).resume()).end();
    t.teardown(() => void sent.destroy());
  };
  const reload = async (yaml: string): Promise<void> => {
    const reloads = (): number =>
      gateway.program.log().filter(({ msg }) => /configuration/.test(String(msg))).length;
    const before = reloads();
    writeFileSync(CONFIG, yaml);
    gateway.program.child.kill('SIGHUP');
    await eventually(() => reloads() > before);
  };
  return { ...gateway, send, reload, alice, sql: rawSql(t, gateway.databaseUrl) };
}

t.test('a tail goes on across SIGHUP, but not that of an operator who is taken away by one', async (t) => {
  const { internalUrl, parent, send, reload, alice, sql } = await start(t);
  const tail = await watch(t, internalUrl, `?account_id=${parent.id}`);
  const ofAlice = await watch(t, internalUrl, '', withToken(aliceToken));
  t.equal(ofAlice.status, 200);
  const streams = (): number => tail.states().at(-1)?.open.streams ?? 0;
  const shows = (path: string) => eventually(() => tail.lines().some((line) => line['path'] === path));
  send('/stream');
  await eventually(() => streams() === 1);
  await reload(`${alice}drain_ms: 20000\n`);
  send('/after');
  send('/stream');
  await shows('/after');
  await eventually(() => streams() === 2);

  await reload('drain_ms: 21000\n');
  await eventually(() => ofAlice.isOver());
  t.equal(ofAlice.isWhole(), true, 'it comes to an orderly end');
  t.equal((await watch(t, internalUrl, '', withToken(aliceToken))).status, 401);
  // It was opened before the other one, so its operator has been looked at as well.
  send('/later');
  await shows('/later');
  t.equal(tail.isOver(), false);
  t.notOk(ofAlice.lines().some(({ path }) => path === '/later'));
  t.equal((await sql`select from tail`).length, 1);
});
