import type { Problem } from './problem.ts';

/** The two scopes the gateway itself asks for (spec section 5, rule 3). */
export const managementScopes = { read: 'sub_accounts:read', write: 'sub_accounts:write' } as const;

/** What a scope may look like: an opaque string compared exactly, no wildcards. */
export const scopePattern = '^[A-Za-z0-9_.*-]+(:[A-Za-z0-9_.*-]+)*$';
export const scopeMaxLength = 100;
export const scopesPerKey = 50;

/** Whether a sub-account key may hold this scope: management is for parents only. */
export function grantableToSubAccount(scope: string): boolean {
  return scope !== 'sub_accounts' && !scope.startsWith('sub_accounts:');
}

/** The problem of a request whose key lacks `scope` (spec section 5, rule 3), the same wherever a scope is asked for. */
export function insufficientScope(scope: string): Problem {
  return {
    code: 'insufficient_scope',
    detail: `This request needs the scope \`${scope}\`, which the API key does not hold.`,
    extra: { scope },
  };
}
