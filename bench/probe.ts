import type { Target, Running } from './targets/target.ts';
import { actingAccounts, unknownKey, type Tenants } from './lib/tenants.ts';
import { sendRequest } from './load/requests.ts';
import type { Seen } from './upstream/helper.ts';

/** One request and what a target that enforces the rule makes of it. */
interface Check {
  readonly name: string;
  readonly part: 'key' | 'acting';
  readonly method: 'GET' | 'POST';
  readonly key: string | undefined;
  readonly acting?: string;
  /** The status to reject with, or the tenant the upstream must be told. */
  readonly expect: number | { readonly resolved: string };
}

const forged = '00000000-0000-4000-8000-000000000000';

/**
 * Finds out whether a target does what it claims, so that nothing is compared that did not do the work.
 *
 * @returns what it got wrong
 */
export async function probe({ enforces }: Target, running: Running): Promise<string[]> {
  const checks = checksFor(running.tenants).filter(({ part }) => part === enforces || enforces === 'acting');
  const failures = enforces === 'none' ? [] : await Promise.all(checks.map((check) => run(running, check)));
  const response = await sendRequest(running.port, {
    method: 'GET',
    path: '/bytes/100',
    headers: { authorization: `Bearer ${running.tenants.parentKey.text}` },
  });
  if (response.status !== 200 || response.body.length !== 100)
    failures.push(`a plain read got ${response.status}`);
  return failures.filter((failure) => failure !== undefined);
}

function checksFor(tenants: Tenants): Check[] {
  const { active, deactivated } = actingAccounts(tenants);
  const [own, other] = tenants.subAccounts;
  const parent = { key: tenants.parentKey.text, part: 'acting' } as const;
  const sub = { key: tenants.subAccountKey.text, part: 'acting' } as const;
  const resolved = (id: string | undefined): { readonly resolved: string } => ({ resolved: id ?? '' });
  return [
    { name: 'no key', part: 'key', method: 'GET', key: undefined, expect: 401 },
    { name: 'unknown key', part: 'key', method: 'GET', key: unknownKey(), expect: 401 },
    { name: 'read', ...parent, part: 'key', method: 'GET', expect: resolved(tenants.parent.id) },
    { name: 'write without header', ...parent, method: 'POST', expect: 400 },
    { name: 'write as self', ...parent, method: 'POST', acting: 'self', expect: resolved(tenants.parent.id) },
    { name: 'write by UUID', ...parent, method: 'POST', acting: active.id, expect: resolved(active.id) },
    {
      name: 'write by external id',
      ...parent,
      method: 'POST',
      acting: `ext:${active.externalId ?? ''}`,
      expect: resolved(active.id),
    },
    { name: 'unknown UUID', ...parent, method: 'GET', acting: forged, expect: 403 },
    { name: 'unknown external id', ...parent, method: 'GET', acting: 'ext:unknown', expect: 403 },
    { name: 'malformed header', ...parent, method: 'GET', acting: 'nonsense', expect: 400 },
    { name: 'deactivated UUID', ...parent, method: 'GET', acting: deactivated.id, expect: 403 },
    {
      name: 'deactivated external id',
      ...parent,
      method: 'GET',
      acting: `ext:${deactivated.externalId ?? ''}`,
      expect: 403,
    },
    { name: "sub-account's key", ...sub, method: 'POST', expect: resolved(own?.id) },
    {
      name: "sub-account's key as itself",
      ...sub,
      method: 'POST',
      acting: own?.id ?? '',
      expect: resolved(own?.id),
    },
    { name: "sub-account's key as another", ...sub, method: 'POST', acting: other?.id ?? '', expect: 403 },
  ];
}

/** Every check also forges the trusted header, and sends a header the upstream must not get. */
async function run(
  running: Running,
  { name, method, key, acting, expect }: Check,
): Promise<string | undefined> {
  const response = await sendRequest(running.port, {
    method,
    path: '/whoami',
    headers: {
      'x-service-resolved-tenant': forged,
      'x-service-caller-tenant': forged,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(acting !== undefined && { 'x-service-acting-tenant': acting }),
      ...(method === 'POST' && { 'content-type': 'application/json', 'content-length': '2' }),
    },
    ...(method === 'POST' && { body: '{}' }),
  });
  const wanted = typeof expect === 'number' ? expect : 200;
  if (response.status !== wanted) return `${name}: got ${response.status} instead of ${wanted}`;
  if (typeof expect === 'number') return undefined;
  const seen = (JSON.parse(response.body) as Seen).headers;
  const told = seen['x-service-resolved-tenant'] ?? [];
  if (told.join() !== expect.resolved) return `${name}: the upstream was told ${told.join() || 'nothing'}`;
  if ((seen['x-service-caller-tenant'] ?? []).includes(forged)) return `${name}: a forged header got through`;
  if (seen['authorization'] !== undefined) return `${name}: the upstream got the API key`;
  return seen['x-service-acting-tenant'] === undefined
    ? undefined
    : `${name}: the upstream got the acting header`;
}
