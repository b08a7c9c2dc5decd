import { styleText } from 'node:util';
import type { Command } from 'commander';
import { managementScopes } from '../domain/scope.ts';
import { exitCode, Failure } from './failure.ts';
import { findCommands, hintsOf } from './find-keys.ts';
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

/** `keys create | list`, for the keys of parent accounts; `keys find | show | revoke`, for any. */
export function keyCommands(program: Command, context: Context): void {
  const keys = program
    .command('keys')
    .description('API keys: of parent accounts, and, to find or revoke one, of any');

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
      for (const wide of key.scopes.filter((one) => one.includes('*')))
        context
          .output()
          .note(`Note: ${wide} is compared as it is. It stands for itself, and for no other scope.\n`);
      context.output().result(key, () => showMinted(key));
    });

  pageOptions(
    keys.command('list').description('list the keys of an account, newest first').argument('<account-id>'),
  ).action(async (id: string, options: PageOptions) => {
    const page = await context.api().call<Listing<ApiKey>>('GET', keysOf(id) + pageQuery(options));
    context.output().result(page, () => list(id, page));
  });

  findCommands(keys, context);

  keys
    .command('revoke')
    .description('revoke a key: once this returns, every replica refuses it')
    .usage('[options] [account-id] <key-id>')
    .argument('<ids...>', 'id of the key; the id of its account may stand before it')
    .action(async (ids: string[]) => {
      const [first = '', second] = ids;
      if (ids.length > 2)
        throw new Failure(exitCode.usage, 'One key at a time: one id, or two with its account.');
      const path = second === undefined ? `/api-keys/${encodeURIComponent(first)}` : keyOf(first, second);
      const key = await context.api().call<ApiKey>('POST', `${path}/revoke`);
      context.output().result(key, () => `${hintsOf(key)} (${key.name}) is ${status(key.status)}.`);
    });
}

function keysOf(accountId: string): string {
  return `/accounts/${encodeURIComponent(accountId)}/api-keys`;
}

function keyOf(accountId: string, keyId: string): string {
  return `${keysOf(accountId)}/${encodeURIComponent(keyId)}`;
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

/** What people recognise a key by; of one that was imported there may be nothing. */
function list(id: string, page: Listing<ApiKey>): string {
  if (page.data.length === 0)
    return `There are no keys yet.\n\n  tenancy-gateway keys create ${id} --name <name>`;
  const rows = page.data.map((key) => [
    key.id,
    key.name,
    hintsOf(key),
    status(key.status),
    key.scopes.join(' ') || '(none)',
    key.last_used_at ?? 'never',
  ]);
  return table(['ID', 'NAME', 'KEY', 'STATUS', 'SCOPES', 'LAST USED'], rows) + moreNote(page);
}
