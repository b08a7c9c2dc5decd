import type { Command } from 'commander';
import { managementScopes } from '../../domain/scope.ts';
import { limitOptions, limitsMember, type LimitOptions } from '../limit-options.ts';
import { accountForms, findAccount, findParent } from '../find-account.ts';
import { changeCommands, showMinted, type Minted } from './change-keys.ts';
import { findCommands, hintsOf, statusOption } from './find-keys.ts';
import type { Listing } from '../operator-api.ts';
import type { ApiKey } from '../../generated/operator-types.ts';
import { printable, status, table } from '../output.ts';
import { moreNote, pageOptions, readList, type PageOptions } from '../pages.ts';
import { readExpiry } from '../times.ts';
import type { Context } from '../context.ts';

interface CreateOptions extends LimitOptions {
  readonly name: string;
  readonly scope: readonly string[] | false;
  readonly expiresAt?: string;
}

const usualScopes: readonly string[] = Object.values(managementScopes);

/**
 * Adds the subcommands of `keys`. `keys create` works only for parent accounts. `keys list | find | show | update |
 * rotate | revoke` also work for sub-account keys.
 */
export function keyCommands(program: Command, context: Context): void {
  const keys = program
    .command('keys')
    .description('API keys: mint and list keys of parent accounts, find and change keys of any account');

  const create = keys
    .command('create')
    .description('mint a key; its value is shown once and cannot be shown again')
    .argument('<account-id>', accountForms)
    .requiredOption('--name <name>', 'what the key is for')
    .option('--scope <scope...>', 'scopes it holds', [...usualScopes])
    .option('--no-scope', 'a key without scopes')
    .option(
      '--expires-at <time>',
      'RFC 3339, such as 2030-01-01T00:00:00Z, or such as 90d from now',
      readExpiry,
    );
  limitOptions(create, 'key').action(async (given: string, options: CreateOptions) => {
    const id = await findParent(context, given, 'Its parent mints its keys, under /v1/sub-accounts.');
    const { name, scope, expiresAt } = options;
    const key = await context.api().call<Minted>('POST', keysOf(id), {
      name,
      scopes: scope === false ? [] : scope,
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
      ...limitsMember(options),
    });
    for (const wide of key.scopes.filter((one) => one.includes('*')))
      context.output().note(`Note: ${wide} is compared exactly, so it stands for no other scope.\n`);
    context.output().result(key, () => showMinted(key));
  });

  pageOptions(
    keys
      .command('list')
      .description('list the keys of an account, newest first')
      .argument('<account-id>', accountForms)
      .addOption(statusOption()),
  ).action(async (given: string, options: PageOptions & { readonly status?: string }) => {
    const { status } = options;
    const { parent, subAccount } = await findAccount(context, given);
    const page =
      subAccount === null
        ? await readList<Listing<ApiKey>>(context, keysOf(parent), options, { status })
        : await readList<Listing<ApiKey>>(context, '/api-keys', options, { status, account_id: subAccount });
    context.output().result(page, () => list(parent, page));
  });

  findCommands(keys, context);

  changeCommands(keys, context);
}

function keysOf(accountId: string): string {
  return `/accounts/${encodeURIComponent(accountId)}/api-keys`;
}

/** Formats keys as a table. Returns a hint instead if there are no keys. */
function list(id: string, page: Listing<ApiKey>): string {
  if (page.data.length === 0)
    return `There are no keys yet.\n\n  tenancy-gateway keys create ${id} --name <name>`;
  const rows = page.data.map((key) => [
    key.id,
    printable(key.name),
    hintsOf(key),
    status(key.status),
    key.scopes.join(' ') || '(none)',
    key.last_used_at ?? 'never',
  ]);
  return table(['ID', 'NAME', 'KEY', 'STATUS', 'SCOPES', 'LAST USED'], rows) + moreNote(page);
}
