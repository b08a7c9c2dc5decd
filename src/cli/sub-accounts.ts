import type { Command } from 'commander';
import {
  accountBody,
  addPair,
  createOptions,
  filterOptions,
  filterQuery,
  nonEmpty,
  showMetadata,
  type AccountOptions,
  type FilterOptions,
} from './account-options.ts';
import type { Context } from './context.ts';
import { limitOptions, limitsMember, showLimits, type LimitOptions } from './limit-options.ts';
import type { Listing, SubAccount } from './operator-api.ts';
import { fields, status, table } from './output.ts';
import { moreNote, pageOptions, pageQuery, type PageOptions } from './pages.ts';

type CreateOptions = AccountOptions & LimitOptions & { readonly id?: string };
type UpdateOptions = LimitOptions & { readonly name?: string };

/** `sub-accounts list | create | show | update | deactivate | reactivate`, of any parent. */
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

  limitOptions(createOptions(subAccounts.command('create').description('create a sub-account')), 'account')
    .argument('<account-id>', 'its parent')
    .argument('<name>', 'name for people')
    .action(async (parent: string, name: string, options: CreateOptions) => {
      const { id } = options;
      const body = {
        name,
        ...(id !== undefined && { id }),
        ...accountBody(options),
        ...limitsMember(options),
      };
      const made = await context.api().call<SubAccount>('POST', pathOf(parent), body);
      context.output().result(made, () => show(made));
    });

  subAccounts
    .command('show')
    .description('show a sub-account')
    .argument('<account-id>', 'its parent')
    .argument('<sub-account-id>')
    .action(async (parent: string, id: string) => {
      const account = await context.api().call<SubAccount>('GET', pathOf(parent, id));
      context.output().result(account, () => show(account));
    });

  const update = subAccounts
    .command('update')
    .description('change a sub-account; what is not named stays')
    .argument('<account-id>', 'its parent')
    .argument('<sub-account-id>')
    .option('--name <name>', 'name for people');
  limitOptions(update, 'account').action(async (parent: string, id: string, options: UpdateOptions) => {
    const { name } = options;
    const body = nonEmpty({ ...(name !== undefined && { name }), ...limitsMember(options) });
    const changed = await context.api().call<SubAccount>('PATCH', pathOf(parent, id), body);
    context.output().result(changed, () => show(changed));
  });

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
        const changed = await context.api().call<SubAccount>('POST', `${pathOf(parent, id)}/${action}`);
        context.output().result(changed, () => show(changed));
      });
  }
}

function pathOf(parent: string, id?: string): string {
  const all = `/accounts/${encodeURIComponent(parent)}/sub-accounts`;
  return id === undefined ? all : `${all}/${encodeURIComponent(id)}`;
}

function show(account: SubAccount): string {
  return fields([
    ['id', account.id],
    ['name', account.name],
    ['external id', account.external_id ?? '(none)'],
    ['status', status(account.status)],
    ['metadata', showMetadata(account.metadata)],
    ['limits', showLimits(account.limits)],
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
