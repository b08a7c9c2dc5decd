import type { Command } from 'commander';
import { readNumber } from './account-options.ts';
import { makeChange } from './change.ts';
import type { Context } from './context.ts';
import { unlessNotFound } from './find-account.ts';
import { limitsMember, planLimitOptions, showLimits, type LimitOptions } from './limit-options.ts';
import type { Listing } from './operator-api.ts';
import type { Plan } from '../generated/operator-types.ts';
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
      .description('create a plan, or replace it as a whole: a limit without its option is taken out')
      .argument('<plan-name>', nameForm)
      .option('--max-sub-accounts <number>', 'how many sub-accounts an account may have', readNumber)
      .option('--max-api-keys <number>', 'how many active keys an account may have', readNumber),
  ).action(async (name: string, options: SetOptions) => {
    const { maxSubAccounts = null, maxApiKeys = null } = options;
    const body = { max_sub_accounts: maxSubAccounts, max_api_keys: maxApiKeys, ...limitsMember(options) };
    const before = await context.api().call<Plan>('GET', pathOf(name)).catch(unlessNotFound);
    await makeChange<Plan>(context, ['PUT', pathOf(name), body], (plan) => showReplaced(plan, before));
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
    ...figures(plan),
    ['created', plan.created_at],
    ['updated', plan.updated_at],
  ]);
}

/** Shows a plan with its former figures, because an option left out by mistake takes a limit out of the plan. */
function showReplaced(plan: Plan, before: Plan | undefined): string {
  const former = new Map(before && figures(before));
  const changed = figures(plan).filter(([name, value]) => (former.get(name) ?? value) !== value);
  if (changed.length === 0) return show(plan);
  const lines = fields(changed.map(([name]) => [name, former.get(name) ?? '']));
  return `${show(plan)}\n\nBefore:\n${lines}`;
}

function figures(plan: Plan): [string, string][] {
  return [
    ['limits', showLimits(plan.limits)],
    ['most sub-accounts', plan.max_sub_accounts?.toString() ?? asConfigured],
    ['most API keys', plan.max_api_keys?.toString() ?? asConfigured],
  ];
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
