// class: built
/** What the log of a whole gateway says about who sent a request. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { operatorToken } from '../support/apis.ts';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, startProcess, tempFolder } from '../support/process.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('who called, from where, with what, also where the call was rejected', async (t) => {
  const file = join(tempFolder(t), 'gateway.yaml');
  writeFileSync(file, 'trusted_proxies: [127.0.0.1]\n');
  const { program, url, internalUrl } = await startProcess(t, {
    DATABASE_URL: await freshDatabase(t),
    UPSTREAM_URL: (await startUpstream(t)).url,
    ADMIN_TOKEN: operatorToken,
    CONFIG: file,
  });
  await becomes(internalUrl, 200);
  const call = async (target: string, key: string, body?: object): Promise<Record<string, string>> => {
    const response = await fetch(target, {
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'user-agent': 'tests/1',
        'x-forwarded-for': '203.0.113.9, 192.0.2.1',
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    return (await response.json().catch(() => ({}))) as Record<string, string>;
  };
  const line = async (path: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
    const found = () => program.log().findLast((line) => line['msg'] === 'request' && line['path'] === path);
    await eventually(() => found() !== undefined);
    return found();
  };
  const accounts = `${internalUrl}/admin/v1/accounts`;
  const parent = await call(accounts, operatorToken, { name: 'Acme' });
  const keys = `${accounts}/${parent['id']}/api-keys`;
  const key = await call(keys, operatorToken, { name: 'k', scopes: [] });
  const { id: key_id, api_key: secret = '' } = key;
  const client = { address: '192.0.2.1', user_agent: 'tests/1' };

  await call(`${url}/ok`, secret, { some: 'body' });
  const bytes_in = JSON.stringify({ some: 'body' }).length;
  t.match(await line('/ok'), { ...client, key_id, caller: parent['id'], tenant: parent['id'], bytes_in });

  await call(`${url}/v1/sub-accounts`, secret);
  const code = 'insufficient_scope';
  t.match(await line('/v1/sub-accounts'), { ...client, key_id, caller: parent['id'], code });

  await call(`${url}/unknown`, `${secret}x`);
  const unknown = await line('/unknown');
  t.match(unknown, { ...client, code: 'invalid_api_key', key_length: secret.length + 1 });
  t.notOk(unknown !== undefined && ('key_id' in unknown || 'caller' in unknown));

  await call(`${keys}/${key_id}/revoke`, operatorToken, {});
  t.match(await line(`/admin/v1/accounts/${parent['id']}/api-keys/${key_id}/revoke`), {
    ...client,
    operator: 'operator',
  });
  await call(`${url}/revoked`, secret);
  t.match(await line('/revoked'), { ...client, key_id, code: 'api_key_revoked' });
  await call(`${url}/v1/sub-accounts/revoked`, secret);
  t.match(await line('/v1/sub-accounts/revoked'), { ...client, key_id, code: 'api_key_revoked' });
  t.notOk(program.stdout.includes(secret.slice(8)), 'no key in it');

  writeFileSync(file, 'trusted_proxies: []\n');
  program.child.kill('SIGHUP');
  await program.prints(/was reloaded/);
  await call(`${url}/reloaded`, secret);
  t.match(
    await line('/reloaded'),
    { address: '127.0.0.1' },
    'proxies that are trusted no more are not believed',
  );
});
