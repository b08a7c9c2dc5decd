// class: built
/** `docs/existing-api.md`: its files and commands, before an API that reads the headers as the page says. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { blocksOf, readPage } from '../../support/docs.ts';
import { withPorts } from '../../support/example-ports.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { dist } from '../../support/process.ts';
import { freshRedis } from '../../support/redis.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { startUpstream, type Upstream } from '../../support/upstreams.ts';

const blocks = (language: string): string[] => blocksOf(readPage('existing-api.md'), language);
const key = 'sk_live_7f3Kc0qWmZ1xR9vB';

type OwnerOf = (headers: Readonly<Record<string, string | undefined>>) => string | null;

/** The API of the page: things of each owner, a health check, and a login that shows what reached it. */
async function startApi(t: Test, folder: string): Promise<Upstream> {
  const file = join(folder, 'owner.mjs');
  writeFileSync(file, blocks('js')[0] ?? '');
  const { ownerOf } = (await import(pathToFileURL(file).href)) as { readonly ownerOf: OwnerOf };
  const things = new Map<string | null, unknown[]>([['cust-1', [{ label: 'from before' }]]]);
  return startUpstream(t, ({ method, target, body, values }, response) => {
    const owner = ownerOf({
      'x-service-resolved-tenant': values('x-service-resolved-tenant')[0],
      'x-service-parent-tenant': values('x-service-parent-tenant')[0],
      'x-service-parent-external-id': values('x-service-parent-external-id')[0],
    });
    const own = things.get(owner) ?? [];
    if (method === 'POST' && target === '/v1/things')
      things.set(owner, [...own, JSON.parse(body.toString()) as unknown]);
    response.setHeader('content-type', 'application/json');
    if (target === '/login') response.setHeader('set-cookie', 'sid=1');
    const { [target]: text = { owner, things: things.get(owner) ?? [] } } = {
      '/health': { ok: true },
      '/login': { token: 'own', authorization: values('authorization'), cookie: values('cookie') },
      '/hooks/stripe': { signature: values('stripe-signature'), owner },
    } as Readonly<Record<string, object>>;
    response.end(JSON.stringify(text));
  });
}

t.test('the page puts an API with customers behind the gateway, and they change nothing', async (t) => {
  const folder = t.testdir({});
  const api = await startApi(t, folder);
  const [port, internalPort] = [await unusedPort(), await unusedPort()];
  const [database, redis] = [await freshDatabase(t), await freshRedis(t)];
  const here = (text: string): string =>
    withPorts(text, { 3000: api.port, 8080: port, 9090: internalPort })
      .replaceAll(/postgres:\/\/\S+/g, database)
      .replaceAll(/redis:\/\/\S+/g, redis)
      .replaceAll(/(\$PWD\/)?dist\//g, dist);
  writeFileSync(join(folder, 'gateway.yaml'), here(blocks('yaml')[0] ?? ''));
  writeFileSync(join(folder, 'customers.csv'), blocks('csv')[0] ?? '');

  const commands = blocks('sh').flatMap((text) => here(text).trim().split('\n'));
  t.equal(commands.shift(), 'npm run build', 'which was done');
  const script = [
    'set -euo pipefail; shopt -s expand_aliases; trap "kill %1; wait" EXIT',
    ...commands.flatMap((command) => [`printf '\\n@@'`, command]),
    `printf '\\n@@'`,
    // Past the page: the lowered plan on requests at once, and a token of the API's own.
    `pids=(); for i in 1 2 3 4 5 6; do curl -sS -o /dev/null -w '%{http_code}\\n' $things & pids+=($!); done; wait "\${pids[@]}"`,
    `printf '\\n@@'`,
    `curl -sS $login -H 'Authorization: Bearer own' -H 'Cookie: sid=1'`,
    `printf '\\n@@'`,
    `curl -sS $login -u ${key}:`,
  ].join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    cwd: folder,
    env: {
      ...{ PATH: process.env['PATH'] ?? '', NO_COLOR: '1' },
      ...{ PORT: String(port), INTERNAL_PORT: String(internalPort) },
      things: `http://127.0.0.1:${port}/v1/things -u ${key}:`,
      login: `http://127.0.0.1:${port}/login`,
      USAGE_JOURNAL_DIR: join(folder, 'usage'),
    },
  });
  const printed = stdout
    .split('\n@@')
    .slice(1)
    .map((text) => text.trim());
  /** What the command printed that contains `part`. */
  const of = (part: string): string => printed[commands.findIndex((each) => each.includes(part))] ?? '';
  const json = (part: string): unknown => JSON.parse(of(part));

  t.match(of('config check'), /\/hooks\/stripe → .*, without a key, 50 a second/);
  t.match(json('readyz'), { status: 'ready' });
  for (const part of ['--dry-run', 'import customers.csv'])
    t.match(of(part), /accounts +2 +0 +0 +0\nkeys +2 +0 +0 +0/);
  t.same(json('/health'), { ok: true });
  t.same(json('/login'), { token: 'own', authorization: [], cookie: [] });
  t.same(json('/hooks/stripe'), { signature: ['t=1,v1=5257'], owner: null });
  const before = { owner: 'cust-1', things: [{ label: 'from before' }] };
  t.same(json(`/v1/things -u ${key}:`), before, 'under the id that the API has always had');
  const made = json('/v1/sub-accounts') as { readonly id: string };
  const branch = { owner: `sub-account:${made.id}`, things: [{ label: 'for Paris' }] };
  t.same(json('--json \'{"label"'), branch);
  t.same(json(`-H 'X-Service-Acting-Tenant: ext:paris'`), branch);
  t.match(
    of('--requests-per-second 1 '),
    /limits +1 a second, 2 at once[^]*Before:\nlimits +50 a second, 100 at once\n[^]*In force on 1 replica/,
  );
  t.match(of('accounts update'), /limits in force +5 a second, 10 at once[^]*In force on 1 replica/);
  t.match(of('accounts limits'), /parent/);

  const [burst = '', token = '', withKey = ''] = printed.slice(commands.length);
  const statuses = burst.split('\n');
  t.equal(statuses.length, 6, burst);
  t.ok(statuses.includes('429'), 'the lower plan is in force');
  t.same(JSON.parse(token), { token: 'own', authorization: ['Bearer own'], cookie: ['sid=1'] });
  t.same(JSON.parse(withKey), { token: 'own', authorization: [], cookie: [] }, 'a key goes to no login');
});
