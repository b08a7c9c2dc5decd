/**
 * How many changes a second a gateway makes that is far from PostgreSQL: revokes of keys through its own two APIs, one
 * after the other and some at a time. Prints the table of `docs/maintainers/scale.md`.
 *
 *     npm run bench:far -- [--delay 80] [--changes 60] [--at-once 1,8]
 */
import { parseArgs } from 'node:util';
import { openLog } from '../src/ops/logger.ts';
import { startGateway } from '../src/wiring/start.ts';
import { TcpProxy } from '../test/support/tcp-proxy.ts';
import { makeParents, operatorToken } from '../test/support/apis.ts';
import { configFile, goodConfig } from '../test/support/config-files.ts';
import { httpClient, type Call } from '../test/support/http-client.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { describeMachine, machineLine } from './machine.ts';
import { ms, quantile } from './outages/figures.ts';
import { table } from './report/tables.ts';

const { values } = parseArgs({
  options: {
    delay: { type: 'string', default: '80' },
    changes: { type: 'string', default: '60' },
    'at-once': { type: 'string', default: '1,8' },
  },
});
const changes = Number(values.changes);

const ends: (() => unknown)[] = [];
const scope = { teardown: (end: () => unknown) => ends.unshift(end) };
try {
  await main();
} finally {
  for (const end of ends) await end();
}
process.exit();

async function main(): Promise<void> {
  print(machineLine(describeMachine()));
  const proxy = await TcpProxy.open(scope, (await startPostgres(scope, { fsync: 'on' })).url);
  const config = goodConfig({
    PORT: '0',
    INTERNAL_PORT: '0',
    DATABASE_URL: proxy.url,
    UPSTREAM_URL: 'http://127.0.0.1:9',
    ADMIN_TOKEN: operatorToken,
    CONFIG: configFile(scope, 'limits:\n  changes_per_second: 0\n'),
  });
  const gateway = await startGateway(config, openLog('silent').logger);
  scope.teardown(() => gateway.stop());
  await gateway.begun;
  const call = httpClient(scope, `http://127.0.0.1:${gateway.publicAddress.port}`);
  const internal = httpClient(scope, `http://127.0.0.1:${gateway.internalAddress.port}`);
  const operator: Call = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: operatorToken, ...more });
  const parent = await makeParents(call, operator)();
  const sub = await parent.create();

  const rows: string[][] = [];
  for (const [who, by, keys, revoked] of [
    ['a parent', parent.call, `/${sub.id}/api-keys`, undefined],
    ['an operator, below the account', operator, `/accounts/${parent.id}/api-keys`, undefined],
    ['an operator, by the id', operator, `/accounts/${parent.id}/api-keys`, '/api-keys'],
  ] as const)
    for (const atOnce of values['at-once'].split(',').map(Number)) {
      proxy.delay(0);
      const ids: string[] = [];
      while (ids.length < changes)
        ids.push(String((await by('POST', keys, { body: { name: 'Key' } })).body['id']));
      proxy.delay(Number(values.delay) / 2);
      // What connects first is not measured.
      await Promise.all(
        Array.from({ length: atOnce }, () => by('PATCH', `${keys}/${ids[0]}`, { body: { name: 'K' } })),
      );
      const took: number[] = [];
      const began = performance.now();
      const one = async (): Promise<void> => {
        for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
          const sinceMs = performance.now();
          const { status, text } = await by('POST', `${revoked ?? keys}/${id}/revoke`);
          if (status !== 200) throw new Error(text);
          took.push(performance.now() - sinceMs);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, one));
      const seconds = (performance.now() - began) / 1_000;
      rows.push([
        who,
        String(atOnce),
        (changes / seconds).toFixed(1),
        ms(quantile(took, 0.5)),
        ms(quantile(took, 0.99)),
      ]);
      print(rows.at(-1)?.join('  ') ?? '');
    }
  print(`\n${table(['revokes by', 'at a time', 'a second', 'p50', 'p99'], rows)}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
