/** Changes that replicas of an earlier version could not enforce, and accounts to make them of. */
import type { Test } from 'tap';
import { makeParents, operatorToken, type Parent } from '../../../support/apis.ts';
import { httpClient, type Call, type HttpResponse } from '../../../support/http-client.ts';
import type { GatewayProcess } from '../../../support/process.ts';
import type { Scope } from '../../../support/servers.ts';

/** Both listeners of a replica. */
export interface Apis {
  readonly call: Call;
  /** The operator API, with the token. */
  readonly operator: Call;
}

export function apisOf(t: Scope, { url, internalUrl }: GatewayProcess): Apis {
  const internal = httpClient(t, internalUrl);
  return {
    call: httpClient(t, url),
    operator: (method, path, more) => internal(method, `/admin/v1${path}`, { key: operatorToken, ...more }),
  };
}

export interface Customers {
  /** Has a sub-account that is deactivated. */
  readonly parent: Parent;
  readonly closed: { readonly id: string; readonly key: string };
  readonly suspended: Parent;
  /** Is to get a plan. */
  readonly planned: Parent;
}

export async function makeCustomers({ call, operator }: Apis): Promise<Customers> {
  const make = makeParents(call, operator);
  const [parent, suspended, planned] = [await make(), await make(), await make()];
  const sub = await parent.create({ name: 'Closed', external_id: 'closed' });
  const closed = { id: sub.id, key: await sub.mint() };
  await sub.act('deactivate');
  await operator('POST', `/accounts/${suspended.id}/suspend`);
  return { parent, closed, suspended, planned };
}

export interface NewerChange {
  readonly name: string;
  /** Of a change that can be enforced. */
  readonly status: number;
  readonly send: (through: Apis) => Promise<HttpResponse>;
}

export function deletions({ parent, closed, suspended }: Customers): readonly NewerChange[] {
  return [
    {
      name: 'a sub-account is deleted',
      status: 204,
      send: ({ call }) => call('DELETE', `/v1/sub-accounts/${closed.id}`, { key: parent.key }),
    },
    {
      name: 'a parent is deleted',
      status: 204,
      send: ({ operator }) => operator('DELETE', `/accounts/${suspended.id}`),
    },
  ];
}

/** What the customer with a plan may send in a minute, whatever the plan says. */
const ownPerMinute = 54_321;
/** `RateLimit-Policy` of the customer where its own limits hold, and those of its plan do not. */
export const ownPolicy = `"parent-minute";q=${ownPerMinute};w=60`;

/** A plan, accounts with it, and limits that an earlier version does not know. */
export function plans({ planned }: Customers): readonly NewerChange[] {
  const limits = { requests_per_minute: ownPerMinute };
  const change = (
    name: string,
    status: number,
    ...[method, path, body]: [method: string, path: string, body: object]
  ): NewerChange => ({ name, status, send: ({ operator }) => operator(method, path, { body }) });
  return [
    change('a plan', 201, 'PUT', '/plans/gold', {
      limits: { requests_per_second: 1_000 },
      max_sub_accounts: 1,
    }),
    change('an account gets a plan', 200, 'PATCH', `/accounts/${planned.id}`, { plan: 'gold', limits }),
    change('a new account with a plan', 201, 'POST', '/accounts', { name: 'New', plan: 'gold' }),
    change('an import with a plan', 200, 'POST', '/accounts/import', {
      accounts: [{ external_id: 'imported', name: 'Imported', plan: 'gold' }],
    }),
    change('a lifted limit', 200, 'PATCH', `/accounts/${planned.id}`, { max_api_keys: 'unlimited' }),
    change('a limit of units', 200, 'PATCH', `/accounts/${planned.id}`, {
      limits: { units_per_month: 1_000 },
    }),
  ];
}

/** None is made beside a replica of `version`, and each says so. */
export async function areRefused(
  t: Test,
  through: Apis,
  changes: readonly NewerChange[],
  version: string,
): Promise<void> {
  for (const { name, send } of changes) {
    const { status, headers, body } = await send(through);
    const said = {
      status,
      code: body['code'],
      detail: String(body['detail']),
      retry: headers['retry-after'],
    };
    const naming = new RegExp(`\\(${version.replaceAll('.', '\\.')}\\)`);
    t.match(
      said,
      { status: 503, code: 'unavailable', detail: naming, retry: /^\d+$/ },
      `beside ${version}: ${name}`,
    );
  }
}

export async function areMade(t: Test, through: Apis, changes: readonly NewerChange[]): Promise<void> {
  for (const { name, status, send } of changes) {
    const response = await send(through);
    t.equal(response.status, status, `${name}: ${response.text}`);
  }
}

/**
 * The deleted accounts stay closed at a replica, and nobody opens them there.
 *
 * @param codes the problems of a deleted parent's key, a deleted sub-account's key, and acting as it
 */
export async function stayClosed(
  t: Test,
  { call, operator }: Apis,
  { parent, closed, suspended }: Customers,
  codes: readonly RegExp[],
): Promise<void> {
  const acting = (as: string) => ({ key: parent.key, headers: { 'x-service-acting-tenant': as } });
  const refused = [
    await call('GET', '/item', { key: suspended.key }),
    await call('GET', '/item', { key: closed.key }),
    await call('GET', '/item', acting(closed.id)),
  ];
  t.match(
    refused.map(({ status, body }) => `${status} ${String(body['code'])}`),
    codes,
  );
  t.match(await call('GET', '/item', acting('ext:closed')), { body: { code: 'acting_tenant_unknown' } });
  const opened = [
    await operator('POST', `/accounts/${suspended.id}/resume`),
    await operator('POST', `/accounts/${suspended.id}/api-keys`, { body: { name: 'Back', scopes: [] } }),
    await call('POST', `/v1/sub-accounts/${closed.id}/reactivate`, { key: parent.key }),
    await call('POST', `/v1/sub-accounts/${closed.id}/api-keys`, { key: parent.key, body: { name: 'Back' } }),
  ];
  t.same(
    opened.map(({ status }) => status),
    [404, 404, 404, 404],
    'nobody opens them again',
  );
}

/** Types of all events, as the operator API of a replica lists them. */
export async function listedEvents({ operator }: Apis): Promise<ReadonlySet<string>> {
  const types = new Set<string>();
  for (let cursor: unknown = ''; typeof cursor === 'string';) {
    const page = await operator('GET', `/events?limit=100${cursor && `&cursor=${cursor}`}`);
    if (page.status !== 200) throw new Error(`${page.status} ${page.text}`);
    for (const { type } of page.body['data'] as { type: string }[]) types.add(type);
    cursor = page.body['next_cursor'];
  }
  return types;
}
