import type { Command } from 'commander';
import { readNumber } from './account-options.ts';
import { makeChange } from './change.ts';
import type { Context } from './context.ts';
import { limitsMember, planLimitOptions, showLimits, type LimitOptions } from './limit-options.ts';
import type { Listing } from './operator-api.ts';
import type { Plan } from './operator-types.ts';
import { fields, table } from './output.ts';
import { moreNote, pageOptions, readList, type PageOptions } from './pages.ts';

interface SetOptions extends LimitOptions {
  readonly maxSubAccounts?: number;
  readonly maxApiKeys?: number;
}

/** Adds the commands `plans list | show | set | delete`. */
export function planCommands(program: Command, context: Context): void {
  const plans = program.command('plans').description('named sets of limits that parent accounts share');
  const nameForm = 'lower-case letters, digits and hyphens';

  pageOptions(plans.command('list').description('list plans, newest first')).action(
    async (options: PageOptions) => {
      const page = await readList<Listing<Plan>>(context, '/plans', options);
      context.output().result(page, () => showList(page));
    },
  );

  plans
    .command('show')
    .description('show a plan')
    .argument('<plan-name>', nameForm)
    .action(async (name: string) => {
      const plan = await context.api().call<Plan>('GET', pathOf(name));
      context.output().result(plan, () => show(plan));
    });

  planLimitOptions(
    plans
      .command('set')
      .description('create a plan, or replace what it says; without its option a limit is none')
      .argument('<plan-name>', nameForm)
      .option('--max-sub-accounts <number>', 'how many sub-accounts an account may have', readNumber)
      .option('--max-api-keys <number>', 'how many active keys an account may have', readNumber),
  ).action(async (name: string, options: SetOptions) => {
    const { maxSubAccounts = null, maxApiKeys = null } = options;
    const body = { max_sub_accounts: maxSubAccounts, max_api_keys: maxApiKeys, ...limitsMember(options) };
    await makeChange(context, ['PUT', pathOf(name), body], show);
  });

  plans
    .command('delete')
    .description('delete a plan that no account has')
    .argument('<plan-name>', nameForm)
    .action(async (name: string) => {
      await makeChange(context, ['DELETE', pathOf(name)], () => `The plan ${name} is deleted.`);
    });
}

function pathOf(name: string): string {
  return `/plans/${encodeURIComponent(name)}`;
}

function show(plan: Plan): string {
  return fields([
    ['name', plan.name],
    ['limits', showLimits(plan.limits)],
    ['most sub-accounts', plan.max_sub_accounts?.toString() ?? asConfigured],
    ['most API keys', plan.max_api_keys?.toString() ?? asConfigured],
    ['created', plan.created_at],
    ['updated', plan.updated_at],
  ]);
}

const asConfigured = '(as configured)';

function showList(page: Listing<Plan>): string {
  if (page.data.length === 0) return 'There are no plans.\n\n  tenancy-gateway plans set <name>';
  const rows = page.data.map((plan) => [
    plan.name,
    showLimits(plan.limits),
    plan.max_sub_accounts?.toString() ?? '',
    plan.max_api_keys?.toString() ?? '',
    plan.created_at,
  ]);
  return table(['NAME', 'LIMITS', 'SUB-ACCOUNTS', 'API KEYS', 'CREATED'], rows) + moreNote(page);
}
