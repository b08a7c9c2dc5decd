import type { Problem } from './problem.ts';
import { suggest } from './suggest.ts';

/** Scopes that the gateway itself requires (spec section 5, rule 3). */
export const managementScopes = { read: 'sub_accounts:read', write: 'sub_accounts:write' } as const;

/** Format of a scope: an opaque string, compared exactly, with no wildcards. */
export const scopePattern = '^[A-Za-z0-9_.*-]+(:[A-Za-z0-9_.*-]+)*$';
export const scopeMaxLength = 100;
export const scopesPerKey = 50;

/** Returns whether a sub-account's key may hold this scope. Only parents' keys may hold management API scopes. */
export function grantableToSubAccount(scope: string): boolean {
  return scope !== 'sub_accounts' && !scope.startsWith('sub_accounts:');
}

/** Returns why a sub-account's key may not hold a scope; `undefined` if it may. */
export function subAccountScopeFault(scope: string): string | undefined {
  if (grantableToSubAccount(scope)) return undefined;
  return `\`${scope}\` is for parent keys alone: a sub-account manages no sub-accounts.`;
}

/**
 * Returns an error message if a scope is probably a misspelled management scope: a key with the misspelled scope would
 * get 403 for management calls. Returns `undefined` for all other scopes, even those with `*`, because upstreams define
 * them.
 */
export function misspelledManagementScope(scope: string): string | undefined {
  const own: readonly string[] = Object.values(managementScopes);
  if (grantableToSubAccount(scope) || own.includes(scope)) return undefined;
  const near = suggest(scope, own);
  return near === undefined ? undefined : `is not one of the gateway's own scopes. Did you mean \`${near}\`?`;
}

/** Returns the problem to report if a request's key lacks `scope` (spec section 5, rule 3). */
export function insufficientScope(scope: string): Problem {
  return {
    code: 'insufficient_scope',
    detail: `This request needs the scope \`${scope}\`, which the API key does not hold.`,
    extra: { scope },
  };
}
