import { Type } from 'typebox';
import { planNamePattern, type Plan } from '../../domain/limits/plan.ts';
import { ProblemError } from '../../domain/problem.ts';
import { invalidField } from '../../http/invalid-request.ts';
import { found } from '../../http/not-found.ts';
import type { PlanPageQuery } from '../../ports/plans.ts';
import { enforced } from '../rest/changes.ts';
import { pageOf, pageQuery, readPage, writePage } from '../rest/paging.ts';
import { closed, noQuery } from '../rest/typebox.ts';
import type { AdminDeps } from './deps.ts';
import { operatorOf, type OperatorApp } from './operator-token.ts';
import { planBody, planTermsOf, planToBody, putPlanBody } from './plan-body.ts';

const params = closed({ plan_name: Type.String() });
const list = ['plans'];

/** Adds the routes that create, replace, list, show and delete plans. */
export function planRoutes(app: OperatorApp, deps: AdminDeps): void {
  putRoute(app, deps);
  listRoute(app, deps);
  getRoute(app, deps);
  deleteRoute(app, deps);
}

function putRoute(app: OperatorApp, { tenants, barrier, config }: AdminDeps): void {
  app.put(
    '/plans/:plan_name',
    {
      schema: {
        params,
        querystring: noQuery,
        body: putPlanBody,
        response: { 200: planBody, 201: planBody },
      },
      config: { role: 'admin' },
    },
    async (request, reply) => {
      const { plan_name: name } = request.params;
      if (!isPlanName(name))
        throw invalidField(
          'plan_name',
          'must be 1 to 63 lower-case letters, digits and hyphens, no hyphen first.',
        );
      const made = await tenants.putPlan(name, planTermsOf(request.body), operatorOf(request));
      const plan = await enforced(made, barrier, reply, config.headers.enforced);
      reply.code(made.created ? 201 : 200);
      return planToBody(plan);
    },
  );
}

function listRoute(app: OperatorApp, { tenants }: AdminDeps): void {
  app.get(
    '/plans',
    {
      schema: { querystring: closed(pageQuery()), response: { 200: closed(pageOf(planBody)) } },
      config: { role: 'viewer' },
    },
    async ({ query }) => {
      const { limit, after } = readPage(query, list, (text) => positionIn(text) !== undefined);
      const position = after === undefined ? undefined : positionIn(after);
      const page = await tenants.listPlans({ limit, ...(position && { after: position }) });
      return writePage(page, list, positionOf, planToBody);
    },
  );
}

function getRoute(app: OperatorApp, { tenants }: AdminDeps): void {
  app.get(
    '/plans/:plan_name',
    { schema: { params, querystring: noQuery, response: { 200: planBody } }, config: { role: 'viewer' } },
    async (request) => planToBody(found(await tenants.getPlan(request.params.plan_name), 'plan')),
  );
}

function deleteRoute(app: OperatorApp, { tenants, barrier, config }: AdminDeps): void {
  app.delete(
    '/plans/:plan_name',
    {
      schema: { params, querystring: noQuery, response: { 204: Type.Null() } },
      config: { role: 'admin', action: true },
    },
    async (request, reply) => {
      const { plan_name: name } = request.params;
      const deleted = found(await tenants.deletePlan(name, operatorOf(request)), 'plan');
      if ('accounts' in deleted) throw inUse(deleted.accounts);
      await enforced(deleted, barrier, reply, config.headers.enforced);
      reply.code(204);
      return null;
    },
  );
}

const form = new RegExp(planNamePattern);

function isPlanName(text: string): boolean {
  return form.test(text);
}

function inUse(accounts: number): ProblemError {
  const number = accounts === 1 ? '1 account has' : `${accounts} accounts have`;
  return new ProblemError({
    code: 'plan_in_use',
    detail: `${number} this plan (GET …/accounts?plan=): give another plan, or none, to each of them first.`,
  });
}

/** Returns a plan's position in the list, for cursors. */
function positionOf({ createdAt, name }: Plan): string {
  return `${createdAt.toISOString()} ${name}`;
}

/** Reads a text that {@link positionOf} returned. Other times of `Date` may be none that the database can compare. */
function positionIn(text: string): PlanPageQuery['after'] {
  const [time = '', name = '', ...more] = text.split(' ');
  const createdAt = new Date(time);
  const isWritten = time.length === 24 && createdAt.getTime() >= 0 && createdAt.toISOString() === time;
  return isWritten && more.length === 0 && isPlanName(name) ? { createdAt, name } : undefined;
}
