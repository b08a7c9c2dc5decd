import type { Subject } from '../types.ts';
import { gold, lastPage } from './world.ts';

const { name: _name, created_at: _created, updated_at: _updated, ...terms } = gold;

/** Named sets of limits. */
export const plans: Subject = {
  operators: {
    operations: {
      'PUT /admin/v1/plans/{plan_name}': {
        id: 'putPlan',
        tag: 'Plans',
        summary: 'Create or replace a plan',
        description:
          'The plan says what the body says; a member that is absent is `null`. From the 2xx on, every replica enforces it for all accounts with the plan.',
        request: 'PutPlan',
        responses: { 200: ['Plan', 'The plan was there.'], 201: ['Plan', 'The plan was created.'] },
        never: ['not_found'],
        headers: ['Enforced'],
      },
      'GET /admin/v1/plans': {
        id: 'listPlans',
        tag: 'Plans',
        summary: 'List plans',
        description: 'Newest first.',
        responses: { 200: ['PlanList', 'A page of plans.'] },
      },
      'GET /admin/v1/plans/{plan_name}': {
        id: 'getPlan',
        tag: 'Plans',
        summary: 'Get a plan',
        description: 'One plan by its name.',
        responses: { 200: ['Plan', 'The plan.'] },
      },
      'DELETE /admin/v1/plans/{plan_name}': {
        id: 'deletePlan',
        tag: 'Plans',
        summary: 'Delete a plan',
        description: 'Deletes a plan that no account has.',
        responses: { 204: [null, 'The plan was deleted.'] },
        problems: ['plan_in_use'],
        headers: ['Enforced'],
      },
    },
    examples: { Plan: gold, PlanList: { data: [gold], ...lastPage }, PutPlan: terms },
  },
  schemas: {
    Plan: 'A named set of limits that parent accounts share.',
    PlanList: 'A page of plans.',
    PutPlan: 'What the plan says.',
  },
  members: {
    'Plan.limits': 'How many requests each account with the plan may send, its sub-accounts included.',
    'Plan.name': 'Its name.',
    'PutPlan.limits':
      'How many requests each account with the plan may send, its sub-accounts included; `null` and absent members are no limit.',
  },
};
