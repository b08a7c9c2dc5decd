import { limitsToMembers } from '../../../domain/limits/limits.ts';
import type { Plan, PlanTerms } from '../../../domain/limits/plan.ts';
import type { Plans } from '../../../ports/plans.ts';
import type { Runner } from '../connection/pool.ts';
import { pageOf } from '../page.ts';
import { committed, type Changes } from './changes.ts';
import { toLimits, type LimitColumns } from './rows.ts';

/** A row of `plan`, read as JSON, in which times are ISO 8601. */
export interface PlanRow extends LimitColumns {
  readonly name: string;
  readonly max_sub_accounts: number | null;
  readonly max_api_keys: number | null;
  readonly created_at: string;
  readonly updated_at: string;
}

interface ListedPlan {
  readonly plan: PlanRow;
}

/** Plans in PostgreSQL. */
export function plans(db: Runner, changes: Changes): Plans {
  return {
    async putPlan(name, terms, caller) {
      const made = await changes.run<never, ListedPlan & { readonly created: boolean }>(
        null,
        (sql, request) => sql`plan_put(${request}, ${name}, ${sql.json(columnsOf(terms))})`,
        caller,
      );
      return { ...committed(made, toPlan(made.plan)), created: made.created };
    },

    async getPlan(name) {
      const [row] = await db.run(
        (sql) => sql<ListedPlan[]>`select to_jsonb(p) as plan from plan p where name = ${name}`,
      );
      return row ? toPlan(row.plan) : null;
    },

    async listPlans({ limit, after }) {
      const rows = await db.run(
        (sql) => sql<ListedPlan[]>`
          select to_jsonb(p) as plan from plan p
          ${after === undefined ? sql`` : sql`where (created_at, name) < (${after.createdAt}, ${after.name} collate "C")`}
          order by created_at desc, name desc limit ${limit + 1}`,
      );
      return pageOf(rows, limit, ({ plan }) => toPlan(plan));
    },

    async deletePlan(name, caller) {
      const made = await changes.run<'none' | 'in-use', { readonly plan: { readonly accounts: number } }>(
        null,
        (sql, request) => sql`plan_delete(${request}, ${name})`,
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
  return { ...limitsToMembers(limits), max_sub_accounts: maxSubAccounts, max_api_keys: maxApiKeys };
}
