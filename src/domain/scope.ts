import type { Problem } from './problem.ts';
import { suggest } from './suggest.ts';

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

/**
 * What is wrong with a scope that was probably meant for one of the gateway's own: a key with it could do nothing, and
 * its owner would find out by a 403. `undefined` where nothing is. Other scopes are the upstreams' affair, wildcards too.
 */
export function misspelledManagementScope(scope: string): string | undefined {
  const own: readonly string[] = Object.values(managementScopes);
  if (grantableToSubAccount(scope) || own.includes(scope)) return undefined;
  const near = suggest(scope, own);
  return near === undefined ? undefined : `is none of the gateway's own scopes. Did you mean \`${near}\`?`;
}

/** The problem of a request whose key lacks `scope` (spec section 5, rule 3), the same wherever a scope is asked for. */
export function insufficientScope(scope: string): Problem {
  return {
    code: 'insufficient_scope',
    detail: `This request needs the scope \`${scope}\`, which the API key does not hold.`,
    extra: { scope },
  };
}
