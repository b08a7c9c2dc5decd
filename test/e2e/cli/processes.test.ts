// class: built
/** The command line as a process: what only a process has. All else is tested by calls (`support/command-line.ts`). */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { cli, cliFrom, dist, startCli, tempFolder } from '../../support/process.ts';

t.test('a command ends with its exit code, and errors leave standard output empty', async (t) => {
  const away = { INTERNAL_PORT: '1', ADMIN_TOKEN: operatorToken };
  const cases: readonly (readonly [Record<string, string>, readonly string[], number, RegExp])[] = [
    [away, ['acounts', 'list'], 64, /Did you mean accounts/],
    [away, ['accounts', 'list'], 69, /cannot be reached/],
    // A developer who has tried the gateway in this folder has a token in ./data.
    [{ DATA_DIR: tempFolder(t) }, ['accounts', 'list'], 77, /no operator token[^]*DATA_DIR/],
    [{ LOG_LEVEL: 'loud' }, ['config', 'check'], 78, /LOG_LEVEL/],
  ];
  await Promise.all(
    cases.map(async ([env, args, code, stderr]) =>
      t.match(await cli(env, ...args), { code, stdout: '', stderr }, args.join(' ')),
    ),
  );
  t.match(await cli({}, '--version'), { code: 0, stdout: /^\d+\.\d+\.\d+/, stderr: '' });
});

t.test('a key comes through a pipe', async (t) => {
  const env = { INTERNAL_PORT: '1', ADMIN_TOKEN: operatorToken };
  t.match(await cliFrom('two words\n', env, 'keys', 'find', '--stdin'), { code: 64, stderr: /one API key/ });
  t.match(await cliFrom(`tgw_${'x'.repeat(39)}\n`, env, 'keys', 'find', '--stdin'), { code: 69 });
});

t.test('a reader that goes away ends a command without a word', (t) => {
  const command = `'${process.execPath}' '${join(dist, 'cli.js')}' --help | head -c 1`;
  const { stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8', env: {} });
  t.same([stdout, stderr], ['U', '']);
  t.end();
});

t.test('Ctrl-C ends a command that waits for the gateway', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1');
  t.teardown(() => silent.close());
  await once(silent, 'listening');
  const file = join(tempFolder(t), 'one.jsonl');
  writeFileSync(file, '{"type": "account", "external_id": "a", "name": "A"}');
  const env = { INTERNAL_PORT: String((silent.address() as AddressInfo).port), ADMIN_TOKEN: operatorToken };
  const asked = once(silent, 'connection');
  const program = startCli(t, env, 'import', file);
  await asked;
  t.equal(await program.kill('SIGINT'), null);
  t.equal(program.child.signalCode, 'SIGINT');
});
