// class: built
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cli, startProcess, tempFolder } from '../support/process.ts';

t.test('a bad configuration: exit code 78, every fault, nothing started', async (t) => {
  const folder = tempFolder(t);
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, 'lisen: {}\nroutes:\n  - prefix: /v1/sub-accounts/x\n    upstream: nonsense\n');
  const env = {
    CONFIG: file,
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://user:hunter2@host/db',
  };
  const { program, url } = await startProcess(t, env);
  t.equal(await program.ended(), 78);
  for (const fault of [
    /4 faults|5 faults/,
    /gateway.yaml:1:1 lisen/,
    /gateway.yaml:3:5 routes\[0\]\.prefix/,
  ]) {
    t.match(program.stderr, fault);
  }
  t.match(program.stderr, /gateway.yaml:4:5 routes\[0\]\.upstream/);
  t.match(program.stderr, /LOG_LEVEL +must be one of/);
  t.match(program.stderr, /DATABASE_URL +must be/);
  t.notMatch(program.stderr + program.stdout, 'hunter2');
  t.equal(program.stdout, '', 'not even a log line');
  t.notOk(existsSync(env.DATA_DIR));
  await t.rejects(fetch(url));

  const checked = await cli(env, 'config', 'check');
  t.equal(checked.code, 78);
  t.match(checked.stderr, /gateway.yaml:1:1 lisen/);
});
