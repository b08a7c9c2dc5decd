// class: real
/** SIGHUP makes a process read its file anew: what people send, seen from outside. */
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { configFile } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
import { get, named, parentOf, replaceFile } from '../../support/reload.ts';
import type { Scope } from '../../support/servers.ts';
import { migrated } from '../../support/store.ts';

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

    replaceFile(file, `upstream_url: ${after.url}`);
    program.child.kill('SIGHUP');
    await program.prints(/was reloaded/);
    t.equal((await call()).body, 'after');
    t.equal(await program.kill('SIGTERM'), 0);
  },
);

t.test(
  'operators and their tokens are read again, and stay as they were if one of them is bad',
  async (t) => {
    const upstream = await named(t, 'it');
    const folder = tempFolder(t);
    const [old, renewed] = ['a-token-of-alice-0123456789abcdef', 'another-token-of-alice-0123456789'];
    const bob = 'a-token-of-bob-0123456789abcdef012';
    const tokenFile = (name: string, token: string): void => writeFileSync(join(folder, name), `${token}\n`);
    const yaml = (...operators: readonly string[]) =>
      `upstream_url: ${upstream.url}\ninternal: { admin_tokens: { ${operators.join(', ')} } }`;
    const operator = (name: string, role: string) =>
      `${name}: { token_file: ${join(folder, name)}, role: ${role} }`;
    tokenFile('alice', old);
    tokenFile('bob', bob);
    const { program, file, internalUrl } = await start(t, yaml(operator('alice', 'viewer')));
    const call = async (token: string, method = 'GET') =>
      (
        await fetch(`${internalUrl}/admin/v1/${method === 'GET' ? 'accounts' : 'usage/forget'}`, {
          method,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: method === 'GET' ? null : JSON.stringify({ replica: 'none' }),
        })
      ).status;
    const reloaded = async (content: string, outcome: RegExp) => {
      replaceFile(file, content);
      const { length } = program.log();
      program.child.kill('SIGHUP');
      await eventually(() =>
        program
          .log()
          .slice(length)
          .some(({ msg }) => outcome.test(String(msg))),
      );
      return program.log().slice(length);
    };
    t.same([await call(old), await call(old, 'POST'), await call(bob)], [200, 403, 401]);

    tokenFile('alice', renewed);
    await reloaded(yaml(operator('alice', 'admin'), operator('bob', 'viewer')), /was reloaded/);
    t.same([await call(old), await call(renewed), await call(bob)], [401, 200, 200], 'other tokens');
    t.same([await call(renewed, 'POST'), await call(bob, 'POST')], [404, 403], 'another role');

    tokenFile('bob', renewed);
    const log = await reloaded(
      yaml(operator('alice', 'viewr'), operator('bob', 'admin'), operator('carol', 'admin')),
      /not reloaded/,
    );
    const faults = log.flatMap(({ faults }) => (faults ?? []) as { where: string; detail: string }[]);
    t.match(
      faults.map(({ where }) => where.split(' ')[1]),
      ['internal.admin_tokens.alice.role', 'internal.admin_tokens.carol.token_file'],
    );
    t.same([await call(renewed, 'POST'), await call(bob), await call(bob, 'POST')], [404, 200, 403]);
    for (const token of [old, renewed, bob]) t.notMatch(JSON.stringify(program.log()), token);

    await reloaded(yaml(), /was reloaded/);
    t.same([await call(renewed), await call(bob), await call(operatorToken)], [401, 401, 200], 'taken away');
    t.equal(await program.kill('SIGTERM'), 0);
  },
);

t.test('many signals at once: the last state of the file is the one that is used', async (t) => {
  const upstreams = [await named(t, '0'), await named(t, '1'), await named(t, '2')];
  const { program, file, call } = await start(t, `upstream_url: ${upstreams[0]?.url}`);
  for (let i = 1; i <= 30; i++) {
    replaceFile(file, `upstream_url: ${upstreams[i % 3]?.url}`);
    program.child.kill('SIGHUP');
  }
  replaceFile(file, `upstream_url: ${upstreams[2]?.url}`);
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
  replaceFile(file, `upstream_url: ${after.url}`);
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
    replaceFile(file, `upstream_url: ${after.url}`);
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
