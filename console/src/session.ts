import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { OperatorApi } from './api/operator-api.ts';
import type { Operator } from '../../src/generated/operator-types.ts';

/** Role of an operator, from the least to the most. */
export type Role = Operator['role'];

const roles: readonly Role[] = ['viewer', 'support', 'admin'];

/** The operator who has signed in. */
export interface Session {
  readonly api: OperatorApi;
  readonly operator: Operator;
}

export const SessionContext = createContext<Session | null>(null);

/** The session of the page. Only pages of operators who have signed in call this. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('nobody has signed in');
  return session;
}

/** Returns a function that says whether the operator may do what needs a role. */
export function useMay(): (role: Role) => boolean {
  const { operator } = useSession();
  return (role) => roles.indexOf(operator.role) >= roles.indexOf(role);
}
