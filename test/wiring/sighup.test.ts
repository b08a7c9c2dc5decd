/** SIGHUP makes a process read its file anew: what people send, seen from outside. */
import { renameSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import t from 'tap';
import { operatorToken } from '../support/apis.ts';
import { configFile } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, startProcess } from '../support/process.ts';
import { get, named, parentOf } from '../support/reload.ts';
import type { Scope } from '../support/servers.ts';
import { migrated } from '../support/store.ts';

t.test(
  'a file with faults is logged with all of them, and changes nothing; a good one is used',
  async (t) => {
    const [before, after] = [await named(t, 'before'), await named(t, 'after')];
    const { program, file, call } = await start(t, `upstream_url: ${before.url}`);

    // Good parts beside bad ones, which must not be taken either.
    writeFileSync(
      file,
      `
upstream_url: ${after.url}
limits: { in_flight_per_tenant: 0 }
lisen: 1
route_defaults: { tls: { ca_file: /nowhere } }
drain_ms: 0
drain_delay_ms: 5
`,
    );
    program.child.kill('SIGHUP');
    await program.prints(/not reloaded/);
    const line = program.log().find(({ msg }) => String(msg).includes('not reloaded'));
    t.match(line, { level: 'error' });
    t.same(
      (line?.['faults'] as { where: string }[]).map(({ where }) => where.split(' ')[1]),
      ['limits.in_flight_per_tenant', 'lisen', 'route_defaults.tls.ca_file', 'drain_delay_ms'],
    );
    t.equal((await call()).body, 'before');

    replace(file, `upstream_url: ${after.url}`);
    program.child.kill('SIGHUP');
    await program.prints(/was reloaded/);
    t.equal((await call()).body, 'after');
    t.equal(await program.kill('SIGTERM'), 0);
  },
);

t.test('many signals at once: the last state of the file is the one that is used', async (t) => {
  const upstreams = [await named(t, '0'), await named(t, '1'), await named(t, '2')];
  const { program, file, call } = await start(t, `upstream_url: ${upstreams[0]?.url}`);
  for (let i = 1; i <= 30; i++) {
    replace(file, `upstream_url: ${upstreams[i % 3]?.url}`);
    program.child.kill('SIGHUP');
  }
  replace(file, `upstream_url: ${upstreams[2]?.url}`);
  program.child.kill('SIGHUP');
  await eventually(async () => (await call()).body === '2');
  t.equal(await program.kill('SIGTERM'), 0);
  t.notMatch(program.stdout, /not reloaded/);
  t.equal(program.stderr, '');
});

t.test('a signal during the drain changes nothing: the process ends as it would have', async (t) => {
  const [held, after] = [await named(t, 'held', true), await named(t, 'after')];
  const { program, file, call, internalUrl } = await start(t, `upstream_url: ${held.url}`);
  const slow = call();
  await eventually(() => held.holding() === 1);
  replace(file, `upstream_url: ${after.url}`);
  program.child.kill('SIGTERM');
  await becomes(internalUrl, 503, 'draining');
  program.child.kill('SIGHUP');
  held.release();
  t.match(await slow, { status: 200, body: 'held' });
  t.equal(await program.ended(), 0);
  t.notMatch(program.stdout, /was reloaded/);
});

t.test('a signal while it starts is not lost', async (t) => {
  const [before, after] = [await named(t, 'before'), await named(t, 'after')];
  const started = await start(t, `upstream_url: ${before.url}`, async ({ program, file }) => {
    await program.prints(/starting/);
    replace(file, `upstream_url: ${after.url}`);
    program.child.kill('SIGHUP');
  });
  await started.program.prints(/was reloaded/);
  t.equal((await started.call()).body, 'after');
});

t.test('without a file, it ends the process in order', async (t) => {
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none', UPSTREAM_URL: 'http://127.0.0.1:2' };
  const { program, internalUrl } = await startProcess(t, env);
  await becomes(internalUrl, 503, 'starting');
  t.equal(await program.kill('SIGHUP'), 0);
  t.match(program.stdout, /draining/);
});

/** In one step: the process may be reading it. */
function replace(file: string, content: string): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

type Started = Awaited<ReturnType<typeof startProcess>> & { readonly file: string };

async function start(t: Scope, yaml: string, meanwhile?: (started: Started) => Promise<void>) {
  const file = configFile(t, yaml);
  const env = { DATABASE_URL: await freshDatabase(t, migrated), ADMIN_TOKEN: operatorToken, CONFIG: file };
  const started = { ...(await startProcess(t, env)), file };
  await meanwhile?.(started);
  await becomes(started.internalUrl, 200);
  const { key } = await parentOf(t, started.url, started.internalUrl);
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  return { ...started, call: () => get(agent, `${started.url}/x`, key) };
}
