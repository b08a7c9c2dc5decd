import type { Plan, PlanTerms } from '../domain/limits/plan.ts';
import type { Operator } from './changes.ts';
import type { Committed, Page } from './tenant-store.ts';

/** Query for a page of plans, newest first. */
export interface PlanPageQuery {
  readonly limit: number;
  /** Last plan of the previous page; it may have been deleted since. */
  readonly after?: Pick<Plan, 'name' | 'createdAt'>;
}

/** Number of accounts that have a plan, which cannot be deleted therefore. */
export interface PlanInUse {
  readonly accounts: number;
}

/**
 * Plans: named sets of limits that parents share. A change of a plan is one change: it takes one log position, and its
 * 2xx means that every replica enforces it for all accounts with the plan. Methods throw `ProblemError` `unavailable`
 * if the store cannot be reached. Changes also throw it while a registered replica runs a version that does not know
 * plans.
 */
export interface Plans {
  /**
   * Creates the plan, or replaces what it says. If nothing differs, nothing is written, and the returned position covers
   * the last change of the plan.
   *
   * @throws ProblemError `invalid_request` for a burst without a rate
   */
  putPlan(
    name: string,
    terms: PlanTerms,
    caller?: Operator,
  ): Promise<Committed<Plan> & { readonly created: boolean }>;
  getPlan(name: string): Promise<Plan | null>;
  listPlans(page: PlanPageQuery): Promise<Page<Plan>>;
  /** Returns `null` if there is no such plan. */
  deletePlan(name: string, caller?: Operator): Promise<Committed<null> | PlanInUse | null>;
}
