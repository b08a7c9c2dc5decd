import type { Command } from 'commander';
import {
  accountBody,
  addPair,
  createOptions,
  filterOptions,
  filterQuery,
  showMetadata,
  type AccountOptions,
  type FilterOptions,
} from './account-options.ts';
import type { Context } from './context.ts';
import type { Listing, SubAccount } from './operator-api.ts';
import { fields, status, table } from './output.ts';
import { moreNote, pageOptions, pageQuery, type PageOptions } from './pages.ts';

/** `sub-accounts list | create | deactivate | reactivate`, of any parent. */
export function subAccountCommands(program: Command, context: Context): void {
  const subAccounts = program.command('sub-accounts').description('sub-accounts of a parent account');

  const list = subAccounts
    .command('list')
    .description('list the sub-accounts of an account, newest first')
    .argument('<account-id>');
  filterOptions(pageOptions(list), ['active', 'deactivated'])
    .option('--metadata <key=value...>', 'only those with these pairs', addPair)
    .action(async (id: string, options: PageOptions & FilterOptions & AccountOptions) => {
      const pairs = Object.entries(options.metadata ?? {});
      const query = pageQuery(options, {
        ...filterQuery(options),
        ...Object.fromEntries(pairs.map(([key, value]) => [`metadata[${key}]`, value ?? ''])),
      });
      const page = await context.api().call<Listing<SubAccount>>('GET', pathOf(id) + query);
      context.output().result(page, () => showList(id, page));
    });

  createOptions(subAccounts.command('create').description('create a sub-account'))
    .argument('<account-id>', 'its parent')
    .argument('<name>', 'name for people')
    .action(
      async (parent: string, name: string, { id, ...options }: AccountOptions & { readonly id?: string }) => {
        const body = { name, ...(id !== undefined && { id }), ...accountBody(options) };
        const made = await context.api().call<SubAccount>('POST', pathOf(parent), body);
        context.output().result(made, () => show(made));
      },
    );

  for (const [action, description] of [
    ['deactivate', 'refuse its keys and requests that act as it, from the moment this returns'],
    ['reactivate', 'let a deactivated sub-account work again'],
  ] as const) {
    subAccounts
      .command(action)
      .description(description)
      .argument('<account-id>', 'its parent')
      .argument('<sub-account-id>')
      .action(async (parent: string, id: string) => {
        const path = `${pathOf(parent)}/${encodeURIComponent(id)}/${action}`;
        const changed = await context.api().call<SubAccount>('POST', path);
        context.output().result(changed, () => show(changed));
      });
  }
}

function pathOf(parent: string): string {
  return `/accounts/${encodeURIComponent(parent)}/sub-accounts`;
}

function show(account: SubAccount): string {
  return fields([
    ['id', account.id],
    ['name', account.name],
    ['external id', account.external_id ?? '(none)'],
    ['status', status(account.status)],
    ['metadata', showMetadata(account.metadata)],
    ['created', account.created_at],
  ]);
}

function showList(parent: string, page: Listing<SubAccount>): string {
  if (page.data.length === 0)
    return `There are no such sub-accounts.\n\n  tenancy-gateway sub-accounts create ${parent} <name>`;
  const rows = page.data.map((account) => [
    account.id,
    account.name,
    status(account.status),
    account.external_id ?? '',
    account.created_at,
  ]);
  return table(['ID', 'NAME', 'STATUS', 'EXTERNAL ID', 'CREATED'], rows) + moreNote(page);
}
