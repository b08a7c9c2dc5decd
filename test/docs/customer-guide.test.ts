// class: built
/** The commands of docs/customer-guide.md run, one after the other, as a parent's developer would paste them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { blocksOf, readPage } from '../support/docs.ts';
import { documentedOperations } from '../support/openapi.ts';
import { startReplicas } from '../support/replicas.ts';

const page = readPage('customer-guide.md');
const commands = blocksOf(page, 'sh').flatMap((text) => text.trim().split(/\n\n+/));

t.test('every command of the guide does what it says', async (t) => {
  const replicas = await startReplicas(t);
  const { key } = await replicas.parent(['sub_accounts:read', 'sub_accounts:write']);
  const variables: Record<string, string> = { API_KEY: key };
  t.equal(commands.length, 6);
  for (const command of commands) {
    const env = { PATH: process.env['PATH'] ?? '', ...variables };
    const pasted = command
      .replaceAll('https://api.example.com', replicas.origin)
      .replaceAll(/\bcurl\b/g, 'curl -sS --fail-with-body');
    const { stdout } = await promisify(execFile)('sh', ['-euc', pasted], { env });
    const body: unknown = JSON.parse(stdout || '{}');
    if (command.includes('/by-external-id/')) variables['SUB_ID'] = memberOf(body, 'id');
    if (command.includes('"scopes"')) variables['KEY_ID'] = memberOf(body, 'id');
    t.pass(command.split('\n')[0] ?? '');
  }
  t.equal(
    replicas.last().values('x-service-resolved-tenant')[0],
    variables['SUB_ID'],
    'the write was for it',
  );
});

t.test('the guide names calls of parents alone', (t) => {
  const paths = documentedOperations()
    .map(({ path }) => path)
    .filter((path) => path.startsWith('/v1/sub-accounts'));
  for (const [, named = ''] of page.matchAll(/`(?:GET|POST|PUT|PATCH|DELETE) (\/v1\/sub-accounts[^`?]*)/g))
    t.ok(paths.includes(named) || /\/(docs|openapi\.json)$/.test(named), named);
  t.notMatch(page, /\/admin\/|tenancy-gateway |ADMIN_TOKEN|INTERNAL_URL/);
  t.end();
});

function memberOf(body: unknown, name: string): string {
  return String((body as Record<string, unknown>)[name]);
}
