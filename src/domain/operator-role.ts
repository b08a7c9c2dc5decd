import type { Problem } from './problem.ts';

/**
 * Roles of operators, in ascending order. Each role may do everything that the roles before it may do: `viewer` reads
 * and explains, `support` also ends and restores access, `admin` does everything. Only `admin` receives secrets.
 */
export const operatorRoles = ['viewer', 'support', 'admin'] as const;

export type OperatorRole = (typeof operatorRoles)[number];

/** Name of the operator whose token is `ADMIN_TOKEN`. */
export const usualOperator = 'operator';

/** Whether an operator with `role` may call an operation whose minimum role is `needed`. */
export function hasRole(role: OperatorRole, needed: OperatorRole): boolean {
  return operatorRoles.indexOf(role) >= operatorRoles.indexOf(needed);
}

/** Problem of a call whose operator has a lower role than `needed`. */
export function insufficientRole(needed: OperatorRole): Problem {
  return {
    code: 'insufficient_role',
    detail: `This request needs the role \`${needed}\`, which the operator of this token does not have.`,
    extra: { role: needed },
  };
}
