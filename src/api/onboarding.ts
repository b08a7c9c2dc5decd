import { Type } from 'typebox';
import { managementScopes } from '../domain/scope.ts';
import type { ManagementDeps } from './deps.ts';
import { callerOf } from './guard.ts';
import { closed, noQuery, timestamp } from './rest/typebox.ts';
import type { ManagementApp } from './operations.ts';
import { onboardingSinceMs } from './sub-accounts/warnings.ts';

const onboardingBody = closed({
  since: timestamp,
  data: Type.Array(
    closed({
      api_key_id: Type.String(),
      name: Type.String(),
      requests: Type.Integer(),
      last_at: timestamp,
    }),
  ),
});

/**
 * `GET /v1/sub-accounts/onboarding`: lists the parent's keys that have recently been used for writes without the acting
 * header. Such writes fail as soon as the parent has an active sub-account. `since` is the start of the day seven days
 * ago, or the time at which counting began, whichever is later.
 */
export function onboardingRoute(
  app: ManagementApp,
  { usage, clock }: Pick<ManagementDeps, 'usage' | 'clock'>,
): void {
  app.get(
    '/onboarding',
    {
      schema: { querystring: noQuery, response: { 200: onboardingBody } },
      config: { scope: managementScopes.read },
    },
    async (request) => {
      const sinceMs = onboardingSinceMs(clock.wallMs());
      const { countedFromMs, keys } = await usage.writesByDefault(callerOf(request).accountId, sinceMs);
      return {
        since: new Date(Math.max(sinceMs, countedFromMs)).toISOString(),
        data: keys.map(({ keyId, name, requests, lastAtMs }) => ({
          api_key_id: keyId,
          name,
          requests,
          last_at: new Date(lastAtMs).toISOString(),
        })),
      };
    },
  );
}
