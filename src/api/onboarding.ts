import { Type } from 'typebox';
import { managementScopes } from '../domain/scope.ts';
import { dayMs } from '../domain/usage.ts';
import type { ManagementDeps } from './deps.ts';
import { callerOf } from './guard.ts';
import { closed, noQuery, timestamp, type TypedApp } from './rest/typebox.ts';

/** How far back it is looked, to the beginning of a day, UTC. */
const lookBackDays = 7;

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
 * `GET /v1/sub-accounts/onboarding`: the parent's keys that wrote without the acting header of late, which is what its first
 * sub-account would have rejected. `since` is the beginning of the day seven days ago, or when the gateway began to count them.
 */
export function onboardingRoute(
  app: TypedApp,
  { usage, clock }: Pick<ManagementDeps, 'usage' | 'clock'>,
): void {
  app.get(
    '/onboarding',
    {
      schema: { querystring: noQuery, response: { 200: onboardingBody } },
      config: { scope: managementScopes.read },
    },
    async (request) => {
      const sinceMs = (Math.floor(clock.wallMs() / dayMs) - lookBackDays) * dayMs;
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
