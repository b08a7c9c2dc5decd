import type { Command } from 'commander';
import type { Context } from './context.ts';
import type { Account, Listing } from './operator-api.ts';
import { fields, status, table } from './output.ts';
import { pageOptions, pageQuery, moreNote, type PageOptions } from './pages.ts';

/** `accounts create | list | show | suspend | resume` */
export function accountCommands(program: Command, context: Context): void {
  const accounts = program.command('accounts').description('parent accounts: the customers of this gateway');

  accounts
    .command('create')
    .description('create a parent account')
    .argument('<name>', 'name for people')
    .action(async (name: string) => {
      const account = await context.api().call<Account>('POST', '/accounts', { name });
      context
        .output()
        .result(account, () =>
          [
            show(account),
            '',
            'Next, a key for it:',
            `  tenancy-gateway keys create ${account.id} --name <name>`,
          ].join('\n'),
        );
    });

  pageOptions(accounts.command('list').description('list parent accounts, newest first')).action(
    async (options: PageOptions) => {
      const page = await context.api().call<Listing<Account>>('GET', `/accounts${pageQuery(options)}`);
      context.output().result(page, () => list(page));
    },
  );

  accounts
    .command('show')
    .description('show a parent account')
    .argument('<account-id>')
    .action(async (id: string) => {
      const account = await context.api().call<Account>('GET', `/accounts/${encodeURIComponent(id)}`);
      context.output().result(account, () => show(account));
    });

  for (const [action, description] of [
    ['suspend', 'refuse an account and everything under it, from the moment this returns'],
    ['resume', 'let a suspended account work again'],
  ] as const) {
    accounts
      .command(action)
      .description(description)
      .argument('<account-id>')
      .action(async (id: string) => {
        const account = await context
          .api()
          .call<Account>('POST', `/accounts/${encodeURIComponent(id)}/${action}`);
        context.output().result(account, () => show(account));
      });
  }
}

function show(account: Account): string {
  return fields([
    ['id', account.id],
    ['name', account.name],
    ['status', status(account.status)],
    ['active sub-accounts', String(account.active_sub_accounts)],
    ['created', account.created_at],
  ]);
}

function list(page: Listing<Account>): string {
  if (page.data.length === 0) return 'There are no accounts yet.\n\n  tenancy-gateway accounts create <name>';
  const rows = page.data.map(
    ({ id, name, status: state, active_sub_accounts: active, created_at: created }) => [
      id,
      name,
      status(state),
      String(active),
      created,
    ],
  );
  return table(['ID', 'NAME', 'STATUS', 'ACTIVE SUB-ACCOUNTS', 'CREATED'], rows) + moreNote(page);
}
