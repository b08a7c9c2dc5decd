import { styleText } from 'node:util';
import type { Command } from 'commander';
import { managementScopes } from '../domain/scope.ts';
import type { ApiKey, Listing, MintedKey } from './operator-api.ts';
import { fields, status, table } from './output.ts';
import { moreNote, pageOptions, pageQuery, type PageOptions } from './pages.ts';
import type { Context } from './context.ts';

interface CreateOptions {
  readonly name: string;
  readonly scope: readonly string[] | false;
  readonly expiresAt?: string;
}

const usualScopes: readonly string[] = Object.values(managementScopes);

/** `keys create | list | revoke`, for the keys of parent accounts. */
export function keyCommands(program: Command, context: Context): void {
  const keys = program.command('keys').description('API keys of parent accounts');

  keys
    .command('create')
    .description('mint a key; its value is shown once and cannot be had again')
    .argument('<account-id>')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--scope <scope...>', 'scopes it holds', [...usualScopes])
    .option('--no-scope', 'a key without scopes')
    .option('--expires-at <time>', 'RFC 3339, such as 2030-01-01T00:00:00Z')
    .action(async (id: string, { name, scope, expiresAt }: CreateOptions) => {
      const key = await context.api().call<MintedKey>('POST', keysOf(id), {
        name,
        scopes: scope === false ? [] : scope,
        ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
      });
      context.output().result(key, () => showMinted(key));
    });

  pageOptions(
    keys.command('list').description('list the keys of an account, newest first').argument('<account-id>'),
  ).action(async (id: string, options: PageOptions) => {
    const page = await context.api().call<Listing<ApiKey>>('GET', keysOf(id) + pageQuery(options));
    context.output().result(page, () => list(id, page));
  });

  keys
    .command('revoke')
    .description('revoke a key: once this returns, every replica refuses it')
    .argument('<account-id>')
    .argument('<key-id>')
    .action(async (id: string, keyId: string) => {
      const key = await context
        .api()
        .call<ApiKey>('POST', `${keysOf(id)}/${encodeURIComponent(keyId)}/revoke`);
      context
        .output()
        .result(key, () => `${key.prefix}…${key.last4} (${key.name}) is ${status(key.status)}.`);
    });
}

function keysOf(accountId: string): string {
  return `/accounts/${encodeURIComponent(accountId)}/api-keys`;
}

function showMinted(key: MintedKey): string {
  return [
    fields([
      ['id', key.id],
      ['name', key.name],
      ['scopes', key.scopes.join(' ') || '(none)'],
      ['expires', key.expires_at ?? 'never'],
      ['api key', styleText('green', key.api_key)],
      ['client secret', styleText('green', key.client_secret)],
    ]),
    '',
    'Keep the key and the secret now: they are not shown again.',
  ].join('\n');
}

function list(id: string, page: Listing<ApiKey>): string {
  if (page.data.length === 0)
    return `There are no keys yet.\n\n  tenancy-gateway keys create ${id} --name <name>`;
  const rows = page.data.map((key) => [
    key.id,
    key.name,
    `${key.prefix}…${key.last4}`,
    status(key.status),
    key.scopes.join(' ') || '(none)',
    key.last_used_at ?? 'never',
  ]);
  return table(['ID', 'NAME', 'KEY', 'STATUS', 'SCOPES', 'LAST USED'], rows) + moreNote(page);
}
