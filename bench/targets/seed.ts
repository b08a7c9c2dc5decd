import { setTimeout as sleep } from 'node:timers/promises';
import { externalIdOf, subAccountCount, type Account, type Key, type Tenants } from '../lib/tenants.ts';
import { sendRequest, type WholeResponse } from '../load/requests.ts';

/** Where a gateway is to be filled. */
export interface Seeding {
  readonly port: number;
  readonly internalPort: number;
  readonly adminToken: string;
}

interface MintedKey {
  readonly id: string;
  readonly api_key: string;
}

const atOnce = 8;
const triesWhenBusy = 10;
const readyLimitMs = 60_000;

/** Makes the tenants of a measurement through the operator's and the parent's API, as a customer would. */
export async function seedTenants({ port, internalPort, adminToken }: Seeding): Promise<Tenants> {
  await ready(internalPort);
  const operator = caller(internalPort, adminToken);
  const { id } = await operator<{ id: string }>('/admin/v1/accounts', { name: 'bench' });
  const parent: Account = { id, parentId: null, externalId: null, status: 'active' };
  const parentKey = await mint(operator, `/admin/v1/accounts/${id}`, id, [
    'sub_accounts:read',
    'sub_accounts:write',
  ]);

  const management = caller(port, parentKey.text);
  const subAccounts: Account[] = [];
  for (let index = 0; index < subAccountCount; index += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, subAccountCount - index) }, async (_, offset) => {
      const externalId = externalIdOf(index + offset);
      const made = await management<{ id: string }>('/v1/sub-accounts', {
        name: externalId,
        external_id: externalId,
      });
      return { id: made.id, parentId: id, externalId, status: 'active' } as const;
    });
    subAccounts.push(...(await Promise.all(batch)));
  }
  const [first, last] = [subAccounts.at(0), subAccounts.pop()];
  if (first === undefined || last === undefined) throw new Error('no sub-accounts were made');
  await management(`/v1/sub-accounts/${last.id}/deactivate`, {});
  const subAccountKey = await mint(management, `/v1/sub-accounts/${first.id}`, first.id, [
    'tracking:read',
    'tracking:write',
  ]);
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
  scopes: readonly string[],
): Promise<Key> {
  const { id, api_key: text } = await call<MintedKey>(`${account}/api-keys`, { name: 'bench', scopes });
  return { id, text, accountId, scopes };
}

function caller(port: number, token: string): Caller {
  return async <Made>(path: string, body: object) => {
    const text = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    };
    const send = (): Promise<WholeResponse> =>
      sendRequest(port, { method: 'POST', path, headers, body: text });
    let response = await send();
    // On a machine that is busy with other things the gateway may have to shed load.
    for (let tries = 0; response.status === 503 && tries < triesWhenBusy; tries++) {
      await sleep(1_000);
      response = await send();
    }
    if (response.status >= 300) throw new Error(`POST ${path} got ${response.status}: ${response.body}`);
    return JSON.parse(response.body) as Made;
  };
}

async function ready(internalPort: number): Promise<void> {
  for (const deadline = performance.now() + readyLimitMs; performance.now() < deadline; await sleep(50)) {
    const response = await sendRequest(internalPort, { method: 'GET', path: '/readyz', headers: {} }).catch(
      () => undefined,
    );
    if (response?.status === 200) return;
  }
  throw new Error('the gateway did not become ready');
}
