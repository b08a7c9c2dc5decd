import type { Command } from 'commander';
import {
  accountBody,
  addPair,
  createOptions,
  filterOptions,
  filterQuery,
  nonEmpty,
  orNull,
  showMetadata,
  type AccountOptions,
  type FilterOptions,
} from './account-options.ts';
import { makeChange } from './change.ts';
import type { Context } from './context.ts';
import { deleteAccount, deleteOptions, type DeleteOptions } from './deletions.ts';
import { accountForms, findAccount, findParent } from './find-account.ts';
import {
  limitOptions,
  limitsMember,
  readOwn,
  showInForce,
  showLimits,
  type LimitOptions,
} from './limit-options.ts';
import type { Listing } from './operator-api.ts';
import type { Account, LimitsInForce } from '../generated/operator-types.ts';
import { fields, printable, status, table } from './output.ts';
import { moreNote, pageOptions, readList, type PageOptions } from './pages.ts';
import { showSubAccount } from './sub-accounts.ts';

/** Adds the commands `accounts create | list | show | limits | update | suspend | resume | delete`. */
export function accountCommands(program: Command, context: Context): void {
  const accounts = program.command('accounts').description('parent accounts: the customers of this gateway');

  createOptions(accounts.command('create').description('create a parent account'))
    .argument('<name>', 'name for people')
    .option('--plan <name>', 'its plan')
    .action(async (name: string, { id, plan, ...options }: CreateOptions) => {
      const body = {
        name,
        ...(id !== undefined && { id }),
        ...(plan !== undefined && { plan }),
        ...accountBody(options),
      };
      await makeChange<Account>(context, ['POST', '/accounts', body], (account) =>
        [
          show(account),
          '',
          'Next, a key for it:',
          `  tenancy-gateway keys create ${account.id} --name <name>`,
        ].join('\n'),
      );
    });

  const list = accounts.command('list').description('list parent accounts, newest first');
  filterOptions(pageOptions(list), ['active', 'suspended'])
    .option('--plan <name>', 'only those with this plan')
    .action(async (options: PageOptions & FilterOptions & { readonly plan?: string }) => {
      const query = { ...filterQuery(options), plan: options.plan };
      const page = await readList<Listing<Account>>(context, '/accounts', options, query);
      context.output().result(page, () => showList(page));
    });

  accounts
    .command('show')
    .description('show a parent account, or a sub-account with its parent')
    .argument('<account-id>', accountForms)
    .action(async (given: string) => {
      const { parent, subAccount } = await findAccount(context, given);
      if (subAccount !== null) return showSubAccount(context, parent, subAccount);
      const account = await context.api().call<Account>('GET', pathOf(parent));
      context.output().result(account, () => show(account));
    });

  limitsCommand(accounts, context);
  updateCommand(accounts, context);

  for (const [action, ofSub, description] of [
    ['suspend', 'deactivate', 'refuse an account and everything under it, from the moment this returns'],
    ['resume', 'reactivate', 'let a suspended account work again'],
  ] as const) {
    accounts
      .command(action)
      .description(description)
      .argument('<account-id>', accountForms)
      .action(async (given: string) => {
        const id = await findParent(
          context,
          given,
          `Meant: \`tenancy-gateway sub-accounts ${ofSub} ${given}\`?`,
        );
        await makeChange(context, ['POST', `${pathOf(id)}/${action}`], show);
      });
  }
  deleteCommand(accounts, context);
}

function deleteCommand(accounts: Command, context: Context): void {
  deleteOptions(
    accounts
      .command('delete')
      .description('delete a suspended account with its sub-accounts and all their keys, for good')
      .argument('<account-id>', accountForms),
  ).action(async (given: string, options: DeleteOptions) => {
    const id = await findParent(context, given, `Meant: \`tenancy-gateway sub-accounts delete ${given}\`?`);
    const account = await context.api().call<Account>('GET', pathOf(id));
    const losses =
      `This deletes the account ${printable(account.name)} (${account.id}), which is ${account.status}, ` +
      `its ${account.active_sub_accounts} active sub-accounts and those that are not, and all their API keys.`;
    await deleteAccount(context, { id, path: pathOf(id), losses }, options);
  });
}

function limitsCommand(accounts: Command, context: Context): void {
  accounts
    .command('limits')
    .description('show what is left of the limits of an account, and of one of its keys')
    .argument('<account-id>', accountForms)
    .option('--key-id <id>', 'show the limits of this key of the account, too')
    .action(async (given: string, { keyId }: { readonly keyId?: string }) => {
      const { parent, subAccount } = await findAccount(context, given);
      const query = keyId === undefined ? '' : `?${new URLSearchParams({ key_id: keyId }).toString()}`;
      const path = `${pathOf(subAccount ?? parent)}/limits${query}`;
      const inForce = await context.api().call<LimitsInForce>('GET', path);
      context.output().result(inForce, () => showInForce(inForce));
    });
}

type CreateOptions = AccountOptions & { readonly id?: string; readonly plan?: string };

interface UpdateOptions extends Omit<AccountOptions, 'externalId'>, LimitOptions {
  readonly name?: string;
  /** `false` for `--no-external-id`. */
  readonly externalId?: string | false;
  /** `false` for `--no-plan`. */
  readonly plan?: string | false;
  /** `false` for `--no-max-sub-accounts`. */
  readonly maxSubAccounts?: number | 'unlimited' | false;
  /** `false` for `--no-max-api-keys`. */
  readonly maxApiKeys?: number | 'unlimited' | false;
}

function updateCommand(accounts: Command, context: Context): void {
  const update = accounts
    .command('update')
    .description('change a parent account; members without an option stay')
    .argument('<account-id>', accountForms)
    .option('--name <name>', 'name for people')
    .option('--external-id <id>', 'your own name for it, which upstreams get from the moment this returns')
    .option('--no-external-id', 'remove its external_id')
    .option('--metadata <key=value...>', 'pairs to set; a key alone removes its pair', addPair)
    .option('--plan <name>', 'its plan, whose limits hold where it has none of its own')
    .option('--no-plan', 'take its plan away')
    .option(
      '--max-sub-accounts <number>',
      'how many sub-accounts it may have, deactivated ones included, or `unlimited`',
      readOwn,
    )
    .option('--no-max-sub-accounts', 'use the number of its plan, or in the configuration')
    .option(
      '--max-api-keys <number>',
      'how many active keys it and each of its sub-accounts may have, or `unlimited`',
      readOwn,
    )
    .option('--no-max-api-keys', 'use the number of its plan, or in the configuration');
  limitOptions(update, 'parent').action(async (given: string, options: UpdateOptions) => {
    const { name, externalId, metadata, plan, maxSubAccounts, maxApiKeys } = options;
    const body = {
      ...(name !== undefined && { name }),
      ...(externalId !== undefined && { external_id: orNull(externalId) }),
      ...(metadata !== undefined && { metadata }),
      ...(plan !== undefined && { plan: orNull(plan) }),
      ...(maxSubAccounts !== undefined && { max_sub_accounts: orNull(maxSubAccounts) }),
      ...(maxApiKeys !== undefined && { max_api_keys: orNull(maxApiKeys) }),
      ...limitsMember(options),
    };
    nonEmpty(body);
    const id = await findParent(context, given, `Meant: \`tenancy-gateway sub-accounts update ${given}\`?`);
    await makeChange(context, ['PATCH', pathOf(id), body], show);
  });
}

function pathOf(id: string): string {
  return `/accounts/${encodeURIComponent(id)}`;
}

function show(account: Account): string {
  return fields([
    ['id', account.id],
    ['name', printable(account.name)],
    ['external id', printable(account.external_id ?? '(none)')],
    ['status', status(account.status)],
    ['metadata', showMetadata(account.metadata)],
    ['active sub-accounts', String(account.active_sub_accounts)],
    ['plan', account.plan ?? '(none)'],
    ['most sub-accounts', account.max_sub_accounts?.toString() ?? inherited(account)],
    ['most API keys', account.max_api_keys?.toString() ?? inherited(account)],
    ['own limits', showLimits(account.limits)],
    ['limits in force', showLimits(account.effective_limits)],
    ['created', account.created_at],
  ]);
}

/** Says where a maximum comes from that the account has not got itself. */
function inherited({ plan }: Account): string {
  return plan === null ? '(as configured)' : `(as in \`plans show ${plan}\`)`;
}

function showList(page: Listing<Account>): string {
  if (page.data.length === 0)
    return 'There are no such accounts.\n\n  tenancy-gateway accounts create <name>';
  const rows = page.data.map((account) => [
    account.id,
    printable(account.name),
    status(account.status),
    printable(account.external_id ?? ''),
    account.plan ?? '',
    String(account.active_sub_accounts),
    account.created_at,
  ]);
  return (
    table(['ID', 'NAME', 'STATUS', 'EXTERNAL ID', 'PLAN', 'ACTIVE SUB-ACCOUNTS', 'CREATED'], rows) +
    moreNote(page)
  );
}
