// class: built
/** `keys.prefix` that imported keys begin with: their holders would be locked out, by a reload or a start. */
import { writeFileSync } from 'node:fs';
import t from 'tap';
import { operatorToken } from '../support/apis.ts';
import { configFile } from '../support/config-files.ts';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, cli, startProcess } from '../support/process.ts';
import { migrated } from '../support/store.ts';
import { startUpstream } from '../support/upstreams.ts';

const imported = 'shipco_live_7f3K0000000000000000Ld5N';

t.test('no keys.prefix locks imported keys out: start, reload and config check refuse it', async (t) => {
  const CONFIG = configFile(t, '{}');
  const env = {
    ...{ CONFIG, ADMIN_TOKEN: operatorToken, DATABASE_URL: await freshDatabase(t, migrated) },
    UPSTREAM_URL: (await startUpstream(t)).url,
  };
  const configure = (prefix: string): void => writeFileSync(CONFIG, `keys: {prefix: ${prefix}}\n`);
  const { program, url, internalUrl } = await startProcess(t, env);
  await becomes(internalUrl, 200);
  const operate = async (path: string, body: object) => {
    const response = await fetch(`${internalUrl}/admin/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as { id: string; detail: string } };
  };
  const { id } = (await operate('/accounts', { name: 'Ada' })).body;
  const importKeys = (keys: readonly object[]) => operate(`/accounts/${id}/api-keys/import`, { keys });
  // Of the last one nothing is known but its digest.
  const made = await importKeys([
    { api_key: imported, name: 'old', prefix: 'shipc' },
    { api_key: 'sk_live_000000000000000000000000', name: 'other' },
    { sha256: 'ab'.repeat(32), name: 'digest' },
  ]);
  t.equal(made.status, 200);
  const works = async () =>
    (await fetch(`${url}/`, { headers: { authorization: `Bearer ${imported}` } })).status;
  t.equal(await works(), 200);

  configure('shipco');
  t.match(await cli(env, 'config', 'check'), {
    code: 78,
    stderr: /keys\.prefix[^]*1 imported key begins like shipco_/,
  });
  program.child.kill('SIGHUP');
  await program.prints(/was not reloaded.*keys\.prefix is shipco/);
  t.equal(await works(), 200, 'the one before goes on');
  const refused = await startProcess(t, env);
  t.equal(await refused.program.ended(), 78);
  t.match(refused.program.stderr, /cannot start: keys\.prefix is shipco/);

  configure('acme');
  t.match(await cli(env, 'config', 'check'), { code: 0 });
  program.child.kill('SIGHUP');
  await program.prints(/the configuration was reloaded/);
  t.equal(await works(), 200);
  const alike = await importKeys([{ api_key: `acme_${'x'.repeat(30)}`, name: 'x' }]);
  t.match(alike, { status: 400, body: { detail: /begins with `keys\.prefix`/ } });
  const near = `acmeX${'x'.repeat(30)}`;
  t.equal((await importKeys([{ api_key: near, name: 'near', prefix: 'acme' }])).status, 200);
  t.match(
    await cli(env, 'config', 'check'),
    { code: 0 },
    'a key that was imported under a prefix is not in its way',
  );
  const again = await startProcess(t, env);
  await becomes(again.internalUrl, 200);

  const away = { ...env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  t.match(await cli(away, 'config', 'check'), { code: 0, stdout: /were not checked/ });
});
