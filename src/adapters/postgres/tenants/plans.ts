import type { Plan, PlanTerms } from '../../../domain/limits/plan.ts';
import type { Plans } from '../../../ports/plans.ts';
import type { Runner } from '../connection/pool.ts';
import { pageOf } from '../page.ts';
import { committed, type Changes } from './changes.ts';
import { limitsPatchOf, toLimits, type LimitColumns } from './rows.ts';

/** A row of `plan`, read as columns or as JSON. */
export interface PlanRow extends LimitColumns {
  readonly name: string;
  readonly max_sub_accounts: number | null;
  readonly max_api_keys: number | null;
  readonly created_at: Date | string;
  readonly updated_at: Date | string;
}

const columns = [
  'name',
  'max_sub_accounts',
  'max_api_keys',
  'requests_per_second',
  'burst',
  'requests_per_minute',
  'requests_per_day',
  'requests_per_month',
  'units_per_month',
  'created_at',
  'updated_at',
] as const satisfies (keyof PlanRow)[];

/** Plans in PostgreSQL. */
export function plans(db: Runner, changes: Changes): Plans {
  return {
    async putPlan(name, terms, caller) {
      const made = await changes.run<never, { readonly created: boolean; readonly plan: PlanRow }>(
        null,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation
          from plan_put(${request}, ${name}, ${sql.json(columnsOf(terms))}) c`,
        caller,
      );
      return { ...committed(made, toPlan(made.plan)), created: made.created };
    },

    async getPlan(name) {
      const [row] = await db.run(
        (sql) => sql<PlanRow[]>`select ${sql(columns)} from plan where name = ${name}`,
      );
      return row ? toPlan(row) : null;
    },

    async listPlans({ limit, after }) {
      const rows = await db.run(
        (sql) => sql<PlanRow[]>`
          select ${sql(columns)} from plan
          ${after === undefined ? sql`` : sql`where (created_at, name) < (${after.createdAt}, ${after.name} collate "C")`}
          order by created_at desc, name desc limit ${limit + 1}`,
      );
      return pageOf(rows, limit, toPlan);
    },

    async deletePlan(name, caller) {
      const made = await changes.run<'none' | 'in-use', { readonly plan: { readonly accounts: number } }>(
        null,
        (sql, request) => sql`
          select c.*, coherence_history() as incarnation from plan_delete(${request}, ${name}) c`,
        caller,
      );
      if (made.outcome === 'none') return null;
      return made.outcome === 'in-use' ? { accounts: made.plan.accounts } : committed(made, null);
    },
  };
}

export function toPlan(row: PlanRow): Plan {
  return {
    name: row.name,
    limits: toLimits(row),
    maxSubAccounts: row.max_sub_accounts,
    maxApiKeys: row.max_api_keys,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}

function columnsOf({ limits, maxSubAccounts, maxApiKeys }: PlanTerms) {
  return { ...limitsPatchOf(limits), max_sub_accounts: maxSubAccounts, max_api_keys: maxApiKeys };
}
