// class: built
import { execFile, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { cli, startProcess, tempFolder } from '../../support/process.ts';

const run = promisify(execFile);
const hasCurl = spawnSync('curl', ['--version']).status === 0;

t.test('the first five minutes: three lines that work when pasted, and state that stays', async (t) => {
  const dataDir = tempFolder(t);
  const first = await startProcess(t, { DATA_DIR: dataDir });
  await first.program.prints(/ext:ada.*\n/);
  const greeting = first.program.stdout;
  const key = /tgw_[0-9A-Za-z]{39}/.exec(greeting)?.[0] ?? '';
  const lines = greeting.split('\n').filter((line) => line.startsWith('curl '));

  await t.test('what is printed', async (t) => {
    t.equal(lines.length, 3);
    t.equal(
      greeting.match(new RegExp(key, 'g'))?.length,
      4,
      'the key stands by itself and in the three lines',
    );
    t.match(greeting, first.url, 'with the port it really listens on');
    t.match(greeting, join(dataDir, 'admin-token'));
    t.match(greeting, 'upstream   the built-in echo');
    t.notMatch(
      first.program
        .log()
        .map((line) => JSON.stringify(line))
        .join('\n'),
      key,
      'the log does not hold it',
    );
    t.equal(statSync(join(dataDir, 'admin-token')).mode & 0o777, 0o600);
    const noise = first.program.stdout.split('\n').slice(-2).join('');
    t.equal(noise, '', 'nothing is printed after it');
  });

  await t.test(
    'the three lines, as a shell runs them',
    { skip: !hasCurl && 'curl is not installed' },
    async (t) => {
      const answers: Record<string, never>[] = [];
      for (const line of lines) {
        const { stdout } = await run('sh', ['-c', line]);
        answers.push(JSON.parse(stdout) as Record<string, never>);
      }
      t.match(answers[0], { external_id: 'ada', status: 'active' });
      t.match(answers[1], {
        status: 400,
        code: 'acting_tenant_required',
        detail: /X-Service-Acting-Tenant: self/,
      });
      t.equal(answers[2]?.['resolved_tenant'], answers[0]?.['id'], 'the upstream was told whom to work for');
      t.match(answers[2], { request: { method: 'POST', path: '/v1/shipments', body: { carrier: 'MAEU' } } });
      t.notMatch(JSON.stringify(answers[2]), key, 'the key went no further than the gateway');
    },
  );

  await t.test('the log: a line of JSON a request, without query and without secrets', async (t) => {
    await fetch(`${first.url}/v1/shipments?token=hidden-in-query`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await first.program.prints(/"method":"GET"/);
    const line = first.program.log().find((entry) => entry['method'] === 'GET');
    t.match(line, { path: '/v1/shipments', route: '/', status: 200, reason: 'self-by-default' });
    t.match(line, { request_id: /^[0-9a-f]{32}$/, key_id: /-/, tenant: /-/, ms: Number });
    t.notMatch(first.program.stdout, 'hidden-in-query');
  });

  await t.test('a second gateway on its data directory: a message for people, exit code 1', async (t) => {
    const { program } = await startProcess(t, { DATA_DIR: dataDir });
    t.equal(await program.ended(), 1);
    t.match(program.stderr, /in use by another process/);
    t.ok(first.program.running);
  });

  await t.test('a SIGKILL and a restart keep everything, and greet without a new key', async (t) => {
    t.equal(await first.program.kill('SIGKILL'), null);
    const second = await startProcess(t, { DATA_DIR: dataDir, UPSTREAM_URL: 'http://127.0.0.1:9' });
    await second.program.prints(/keys create/);
    t.notMatch(second.program.stdout, /tgw_/);
    t.match(second.program.stdout, 'upstream   / → http://127.0.0.1:9');
    t.notMatch(second.program.stdout, 'echo');
    const response = await fetch(`${second.url}/v1/sub-accounts`, {
      headers: { authorization: `Bearer ${key}` },
    });
    t.equal(response.status, 200);
    t.equal(((await response.json()) as { data: unknown[] }).data.length, hasCurl ? 1 : 0);

    // The command line finds the gateway and its token by the same variables.
    const listed = await cli(second.env, 'accounts', 'list', '--json');
    t.match(JSON.parse(listed.stdout), { data: [{ name: 'My company' }] });

    t.equal(await second.program.kill('SIGTERM'), 0);
  });
});
