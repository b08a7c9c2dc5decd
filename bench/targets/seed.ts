import { setTimeout as sleep } from 'node:timers/promises';
import { externalIdOf, subAccountCount, type Account, type Key, type Tenants } from '../lib/tenants.ts';
import { sendRequest, type WholeResponse } from '../load/requests.ts';

/** Where a gateway is to be filled. */
export interface Seeding {
  readonly port: number;
  readonly internalPort: number;
  readonly adminToken: string;
  /** Of the parent, of each sub-account, and of each key; none where it is left out. */
  readonly limits?: SeededLimits;
}

/** Limits as the API takes them; keys have none by the month. */
export interface SeededLimits {
  readonly requests_per_second: number;
  readonly requests_per_month: number;
}

interface MintedKey {
  readonly id: string;
  readonly api_key: string;
}

const atOnce = 8;
const triesWhenBusy = 10;
const readyLimitMs = 60_000;

/** Makes the tenants of a measurement through the operator's and the parent's API, as a customer would. */
export async function seedTenants({ port, internalPort, adminToken, limits }: Seeding): Promise<Tenants> {
  await ready(internalPort);
  const operator = caller(internalPort, adminToken);
  const { id } = await operator<{ id: string }>('/admin/v1/accounts', { name: 'bench' });
  const parent: Account = { id, parentId: null, externalId: null, status: 'active' };
  if (limits) await caller(internalPort, adminToken, 'PATCH')(`/admin/v1/accounts/${id}`, { limits });
  const keyLimits = limits && { requests_per_second: limits.requests_per_second };
  const parentKey = await mint(operator, `/admin/v1/accounts/${id}`, id, {
    scopes: ['sub_accounts:read', 'sub_accounts:write'],
    limits: keyLimits,
  });

  const management = caller(port, parentKey.text);
  const subAccounts: Account[] = [];
  for (let index = 0; index < subAccountCount; index += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, subAccountCount - index) }, async (_, offset) => {
      const externalId = externalIdOf(index + offset);
      const made = await management<{ id: string }>('/v1/sub-accounts', {
        name: externalId,
        external_id: externalId,
        limits,
      });
      return { id: made.id, parentId: id, externalId, status: 'active' } as const;
    });
    subAccounts.push(...(await Promise.all(batch)));
  }
  const [first, last] = [subAccounts.at(0), subAccounts.pop()];
  if (first === undefined || last === undefined) throw new Error('no sub-accounts were made');
  await management(`/v1/sub-accounts/${last.id}/deactivate`, {});
  const subAccountKey = await mint(management, `/v1/sub-accounts/${first.id}`, first.id, {
    scopes: ['tracking:read', 'tracking:write'],
    limits: keyLimits,
  });
  return {
    parent,
    subAccounts: [...subAccounts, { ...last, status: 'deactivated' }],
    parentKey,
    subAccountKey,
  };
}

type Caller = <Made>(path: string, body: object) => Promise<Made>;

async function mint(
  call: Caller,
  account: string,
  accountId: string,
  about: { readonly scopes: readonly string[]; readonly limits: object | undefined },
): Promise<Key> {
  const { scopes } = about;
  const { id, api_key: text } = await call<MintedKey>(`${account}/api-keys`, { name: 'bench', ...about });
  return { id, text, accountId, scopes };
}

function caller(port: number, token: string, method: 'POST' | 'PATCH' = 'POST'): Caller {
  return async <Made>(path: string, body: object) => {
    const text = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    };
    const send = (): Promise<WholeResponse> => sendRequest(port, { method, path, headers, body: text });
    let response = await send();
    // On a machine that is busy with other things the gateway may have to shed load.
    for (let tries = 0; response.status === 503 && tries < triesWhenBusy; tries++) {
      await sleep(1_000);
      response = await send();
    }
    if (response.status >= 300) throw new Error(`${method} ${path} got ${response.status}: ${response.body}`);
    return JSON.parse(response.body) as Made;
  };
}

export async function ready(internalPort: number): Promise<void> {
  for (const deadline = performance.now() + readyLimitMs; performance.now() < deadline; await sleep(50)) {
    const response = await sendRequest(internalPort, { method: 'GET', path: '/readyz', headers: {} }).catch(
      () => undefined,
    );
    if (response?.status === 200) return;
  }
  throw new Error('the gateway did not become ready');
}
