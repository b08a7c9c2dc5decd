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
import { makeChange } from './change.ts';
import type { Context } from './context.ts';
import { deleteAccount, deleteOptions, type DeleteOptions } from './deletions.ts';
import { accountForms, findParent, findSubAccount } from './find-account.ts';
import { limitOptions, limitsMember, showLimits, type LimitOptions } from './limit-options.ts';
import type { Listing } from './operator-api.ts';
import type { SubAccount } from '../generated/operator-types.ts';
import { fields, printable, status, styled, table } from './output.ts';
import { moreNote, pageOptions, readList, type PageOptions } from './pages.ts';

type CreateOptions = AccountOptions & LimitOptions & { readonly id?: string };
type UpdateOptions = LimitOptions & { readonly name?: string };

/**
 * Adds the commands `sub-accounts list | create | show | update | deactivate | reactivate | delete`, which work for any
 * parent.
 */
export function subAccountCommands(program: Command, context: Context): void {
  const subAccounts = program.command('sub-accounts').description('sub-accounts of a parent account');

  const list = subAccounts
    .command('list')
    .description('list the sub-accounts of an account, newest first')
    .argument('<account-id>', accountForms);
  filterOptions(pageOptions(list), ['active', 'deactivated'])
    .option('--metadata <key=value...>', 'only those with these pairs', addPair)
    .action(async (given: string, options: PageOptions & FilterOptions & AccountOptions) => {
      const id = await findParent(context, given, 'A sub-account has none of its own.');
      const pairs = Object.entries(options.metadata ?? {});
      const page = await readList<Listing<SubAccount>>(context, pathOf(id), options, {
        ...filterQuery(options),
        ...Object.fromEntries(pairs.map(([key, value]) => [`metadata[${key}]`, value ?? ''])),
      });
      context.output().result(page, () => showList(id, page));
    });

  limitOptions(
    createOptions(subAccounts.command('create').description('create a sub-account')),
    'sub-account',
  )
    .argument('<account-id>', `its parent: ${accountForms}`)
    .argument('<name>', 'name for people')
    .action(async (given: string, name: string, options: CreateOptions) => {
      const { id } = options;
      const body = {
        name,
        ...(id !== undefined && { id }),
        ...accountBody(options),
        ...limitsMember(options),
      };
      const parent = await findParent(context, given, 'A sub-account has none of its own.');
      await makeChange(context, ['POST', pathOf(parent), body], show);
    });

  ofSubAccount(subAccounts.command('show').description('show a sub-account')).action(
    async (given: string[]) => {
      const { parent, subAccount } = await findSubAccount(context, given);
      await showSubAccount(context, parent, subAccount);
    },
  );

  const update = ofSubAccount(
    subAccounts.command('update').description('change a sub-account; members without an option stay'),
  ).option('--name <name>', 'name for people');
  limitOptions(update, 'sub-account').action(async (given: string[], options: UpdateOptions) => {
    const { name } = options;
    const body = nonEmpty({ ...(name !== undefined && { name }), ...limitsMember(options) });
    const { parent, subAccount } = await findSubAccount(context, given);
    await makeChange(context, ['PATCH', pathOf(parent, subAccount), body], show);
  });

  for (const [action, description] of [
    ['deactivate', 'refuse its keys and requests that act as it, from the moment this returns'],
    ['reactivate', 'let a deactivated sub-account work again'],
  ] as const) {
    ofSubAccount(subAccounts.command(action).description(description)).action(async (given: string[]) => {
      const { parent, subAccount } = await findSubAccount(context, given);
      await makeChange(context, ['POST', `${pathOf(parent, subAccount)}/${action}`], show);
    });
  }
  deleteCommand(subAccounts, context);
}

function deleteCommand(subAccounts: Command, context: Context): void {
  const command = ofSubAccount(
    subAccounts.command('delete').description('delete a deactivated sub-account with all its keys, for good'),
  );
  deleteOptions(command).action(async (given: string[], options: DeleteOptions) => {
    const { parent, subAccount: id } = await findSubAccount(context, given);
    const path = pathOf(parent, id);
    const { name, status } = await context.api().call<SubAccount>('GET', path);
    const losses = `This deletes the sub-account ${printable(name)} (${id}), which is ${status}, and all its API keys.`;
    await deleteAccount(context, { id, path, losses }, options);
  });
}

/** Shows a sub-account with its parent. @param parent id of the parent @throws {Failure} */
export async function showSubAccount(context: Context, parent: string, id: string): Promise<void> {
  const account = await context.api().call<SubAccount>('GET', pathOf(parent, id));
  context.output().result(account, () => `${show(account)}\n${fields([['parent', parent]])}`);
}

function ofSubAccount(command: Command): Command {
  return command
    .usage('[options] [account-id] <sub-account-id>')
    .argument('<ids...>', 'id of the sub-account; or its parent, and then its id or ext:<external_id>');
}

function pathOf(parent: string, id?: string): string {
  const all = `/accounts/${encodeURIComponent(parent)}/sub-accounts`;
  return id === undefined ? all : `${all}/${encodeURIComponent(id)}`;
}

function show(account: SubAccount): string {
  return fields([
    ['id', account.id],
    ['name', printable(account.name)],
    ['external id', printable(account.external_id ?? '(none)')],
    ['status', status(account.status)],
    ['metadata', showMetadata(account.metadata)],
    ['limits', showLimits(account.limits)],
    ['created', account.created_at],
    ...(account.warnings ?? []).map(
      ({ detail }) => ['warning', styled('yellow', printable(detail))] as const,
    ),
  ]);
}

function showList(parent: string, page: Listing<SubAccount>): string {
  if (page.data.length === 0)
    return `There are no such sub-accounts.\n\n  tenancy-gateway sub-accounts create ${parent} <name>`;
  const rows = page.data.map((account) => [
    account.id,
    printable(account.name),
    status(account.status),
    printable(account.external_id ?? ''),
    account.created_at,
  ]);
  return table(['ID', 'NAME', 'STATUS', 'EXTERNAL ID', 'CREATED'], rows) + moreNote(page);
}
