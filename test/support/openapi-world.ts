/** Accounts and keys in every state, and for each operation of the OpenAPI documents calls that work and that do not. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { operatorToken, type Apis, type Parent } from './apis.ts';
import type { Json, Operation } from './openapi.ts';

/** A call, as it is sent. */
export interface Sent {
  readonly path: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json | undefined;
  /** To be sent where every limit is reached. */
  readonly full?: true;
}

/** What calls are about. */
export interface World {
  readonly keys: Readonly<
    Record<'sub' | 'revoked' | 'expired' | 'suspended' | 'deactivated' | 'narrow', string>
  >;
  /** A call that works, about things of its own. */
  readonly callOf: (operation: Operation) => Promise<Sent>;
  /** Calls that work in other ways: with other success statuses, or forms. */
  readonly goodCallsOf: (operation: Operation) => Promise<readonly Sent[]>;
  /** Calls about what is not there, taken, not active or not to be had. */
  readonly rejectedCallsOf: (operation: Operation) => Promise<readonly Sent[]>;
}

/** Acts at an earlier time. */
type Earlier = <T>(agoMs: number, act: () => Promise<T>) => Promise<T>;

/** Makes the accounts and the keys. */
export async function makeWorld(apis: Apis, earlier: Earlier): Promise<World> {
  const parent = await apis.parent();
  // The plan of the examples, which this account keeps from being deleted.
  await apis.operator('PUT', '/plans/gold', { body: {} });
  await apis.operator('POST', '/accounts', { body: { name: 'Taken', external_id: 'taken', plan: 'gold' } });
  const active = await parent.create({ name: 'Active', external_id: 'active' });
  const keys = { sub: await active.mint(), ...(await deadKeys(apis, parent, earlier)) };
  const maker = new Maker(apis, parent, active.id);
  return {
    keys,
    callOf: (operation) => maker.call(operation),
    goodCallsOf: (operation) => maker.goodCalls(operation),
    rejectedCallsOf: (operation) => maker.rejectedCalls(operation),
  };
}

async function deadKeys(apis: Apis, parent: Parent, earlier: Earlier): Promise<Omit<World['keys'], 'sub'>> {
  const mint = async (account: string, body: Json = {}): Promise<Record<string, string>> => {
    const minted = await apis.operator('POST', `/accounts/${account}/api-keys`, {
      body: { name: 'k', scopes: ['sub_accounts:read', 'sub_accounts:write'], ...body },
    });
    return minted.body as Record<string, string>;
  };
  const revoked = await mint(parent.id);
  await apis.operator('POST', `/api-keys/${revoked['id']}/revoke`);
  const hourMs = 3_600_000;
  const expiry = new Date(Date.now() - hourMs).toISOString();
  const expired = await earlier(2 * hourMs, () => mint(parent.id, { expires_at: expiry }));
  const other = await apis.parent();
  await apis.operator('POST', `/accounts/${other.id}/suspend`);
  const narrow = await mint(parent.id, { scopes: [] });
  const gone = await parent.create();
  const deactivated = await gone.mint();
  await gone.act('deactivate');
  return {
    revoked: revoked['api_key'] ?? '',
    expired: expired['api_key'] ?? '',
    suspended: other.key,
    narrow: narrow['api_key'] ?? '',
    deactivated,
  };
}

class Maker {
  readonly #apis: Apis;
  readonly #parent: Parent;
  readonly #active: string;

  constructor(apis: Apis, parent: Parent, active: string) {
    this.#apis = apis;
    this.#parent = parent;
    this.#active = active;
  }

  async call(operation: Operation): Promise<Sent> {
    const path = await this.#path(operation);
    await this.#prepare(operation, path);
    const query = queries[operation.id] ?? '';
    return this.#sent(operation, path + query, await this.#body(operation));
  }

  async goodCalls(operation: Operation): Promise<readonly Sent[]> {
    const call = await this.call(operation);
    const calls = [call];
    if (['putSubAccount', 'putPlan'].includes(operation.id)) calls.push(call);
    if (operation.id === 'getUsage') calls.push({ ...call, headers: { accept: 'text/csv' } });
    if (call.path === operation.path && operation.method === 'GET' && operation.id.startsWith('list'))
      calls.push({ ...call, path: `${call.path}?limit=1` });
    return calls;
  }

  async rejectedCalls(operation: Operation): Promise<readonly Sent[]> {
    const calls: Sent[] = [];
    const call = await this.call(operation);
    const say = (code: string): boolean => operation.outcomes.some(([, each]) => each === code);
    if (say('still_active')) calls.push({ ...call, path: await this.#path(operation) });
    if (say('not_found')) calls.push(notFoundCall(operation, call));
    if (say('limit_reached')) calls.push({ ...call, full: true });
    if (say('external_id_taken')) calls.push({ ...call, body: { ...call.body, ...this.#taken(operation) } });
    if (say('id_taken')) calls.push({ ...call, body: { ...call.body, id: this.#parent.id } });
    if (say('scope_not_grantable')) calls.push(ungrantable(operation, call, this.#active));
    if (say('api_key_taken')) calls.push({ ...call, body: { keys: [await this.#foreignKey()] } });
    if (say('plan_in_use')) calls.push({ ...call, path: operation.path.replace('{plan_name}', 'gold') });
    if (say('key_rotated')) calls.push(call, call);
    if (say('key_not_active')) calls.push({ ...call, path: await this.#path(operation, true) });
    return calls;
  }

  /** Closes what is to be deleted, and deletes what is to have been. */
  async #prepare({ id, method, path: pattern }: Operation, path: string): Promise<void> {
    if ((method !== 'DELETE' && id !== 'getErasure') || id === 'endPortalSession') return;
    if (pattern.startsWith('/v1/')) {
      await this.#parent.call('POST', `${path.replace('/v1/sub-accounts', '')}/deactivate`);
      return;
    }
    const account = path.replace(/^\/admin\/v1\/(?:accounts|erasures)/, '/accounts');
    await this.#apis.operator(
      'POST',
      `${account}/${pattern.includes('{sub_id}') ? 'deactivate' : 'suspend'}`,
    );
    if (id === 'getErasure') await this.#apis.operator('DELETE', account);
  }

  async #sent(operation: Operation, path: string, body: Json | undefined): Promise<Sent> {
    if (ofSession.has(operation.id)) return { path, headers: await this.#signIn() };
    const key = operation.api === 'parents' ? this.#parent.key : operatorToken;
    return { path, key, ...(body === undefined ? {} : { body }) };
  }

  /** What calls of a new session carry. */
  async #signIn(): Promise<Record<string, string>> {
    const { headers, body } = await this.#apis.operator('POST', '/session');
    return {
      cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '',
      'x-csrf-token': String(body['csrf_token']),
    };
  }

  /** A plan that no account has; none for a path without one. */
  async #plan(path: string): Promise<string> {
    if (!path.includes('{plan_name}')) return '';
    const name = `plan-${randomUUID()}`;
    await this.#apis.operator('PUT', `/plans/${name}`, { body: {} });
    return name;
  }

  /** @param revoked whether the key in the path is */
  async #path({ id, api, path }: Operation, revoked = false): Promise<string> {
    const sub = path.includes('{sub_id}') ? (await this.#parent.create()).id : '';
    const account = path.includes('{account_id}') ? await this.#account(path) : '';
    let key = '';
    if (path.includes('{key_id}')) {
      const owner = api === 'parents' ? sub : account || this.#parent.id;
      key = await this.#key(api, owner, revoked);
    }
    return path
      .replace('{sub_id}', sub)
      .replace('{account_id}', account)
      .replace('{plan_name}', id === 'putPlan' ? `plan-${randomUUID()}` : await this.#plan(path))
      .replace('{key_id}', key)
      .replace('{session_id}', path.includes('{session_id}') ? await this.#portalSession() : '')
      .replace('{external_id}', `put-${randomUUID()}`)
      .replace('{event_id}', path.includes('{event_id}') ? await this.#event() : '');
  }

  /** That of the sub-accounts in the path, or one that may be suspended. */
  async #account(path: string): Promise<string> {
    if (path.includes('/sub-accounts')) return this.#parent.id;
    const { body } = await this.#apis.operator('POST', '/accounts', { body: { name: 'Other' } });
    return String(body['id']);
  }

  async #key(api: Operation['api'], owner: string, revoked: boolean): Promise<string> {
    const minted =
      api === 'parents'
        ? await this.#parent.call('POST', `/${owner}/api-keys`, { body: { name: 'k' } })
        : await this.#apis.operator('POST', `/accounts/${owner}/api-keys`, { body: { name: 'k' } });
    const id = String(minted.body['id']);
    if (revoked) await this.#apis.operator('POST', `/api-keys/${id}/revoke`);
    return id;
  }

  async #portalSession(): Promise<string> {
    const { body } = await this.#parent.call('POST', '/portal-sessions', {
      body: { permissions: ['keys:read'] },
    });
    return String(body['id']);
  }

  async #event(): Promise<string> {
    const { body } = await this.#parent.call('GET', '/events?limit=1');
    return String((body['data'] as { id: string }[])[0]?.id);
  }

  /** The example of the document, with names of its own. */
  async #body({ id, body }: Operation): Promise<Json | undefined> {
    if (body === undefined) return undefined;
    const external = `x-${randomUUID()}`;
    const sha256 = createHash('sha256').update(randomBytes(8)).digest('hex');
    const key = { sha256, name: 'Imported' };
    switch (id) {
      case 'explainRequest':
        return { ...body, key_id: this.#parent.keyId };
      case 'createPortalSession':
        return { permissions: ['keys:read'], sub_account_id: this.#active };
      case 'importAccounts':
        return { accounts: [{ external_id: external, name: 'Imported' }] };
      case 'importSubAccounts':
        return { sub_accounts: [{ account_id: this.#parent.id, external_id: external, name: 'Imported' }] };
      case 'importApiKeys':
        return { keys: [{ account_id: this.#parent.id, ...key }] };
      case 'importAccountApiKeys':
        return { keys: [key] };
      case 'exportUsage': {
        const hourMs = 3_600_000;
        const hour = Math.floor(Date.now() / hourMs) * hourMs;
        return { from: new Date(hour - hourMs).toISOString(), to: new Date(hour).toISOString() };
      }
      default:
        return 'external_id' in body ? { ...body, external_id: external } : body;
    }
  }

  #taken({ id }: Operation): Json {
    return { external_id: id.includes('SubAccount') ? 'active' : 'taken' };
  }

  async #foreignKey(): Promise<Json> {
    const sha256 = createHash('sha256').update(this.#parent.key).digest('hex');
    return { sha256, name: 'Foreign' };
  }
}

/** Operations that show more of a session than of a token. */
const ofSession: ReadonlySet<string> = new Set(['whoami', 'endSession']);

const queries: Readonly<Record<string, string>> = { explainActing: '?path=/v1/shipments&method=POST' };

function notFoundCall({ id, path }: Operation, call: Sent): Sent {
  const unknown = randomUUID();
  switch (id) {
    case 'getUsage':
      return { ...call, path: `${path}?sub_account_id=${unknown}` };
    case 'explainRequest':
      return { ...call, body: { ...call.body, key_id: unknown } };
    case 'createPortalSession':
      return { ...call, body: { ...call.body, sub_account_id: unknown } };
    case 'forgetUsage':
      return { ...call, body: { replica: unknown } };
    default:
      return { ...call, path: path.replaceAll(/\{\w+\}/g, unknown) };
  }
}

function ungrantable({ id }: Operation, call: Sent, subAccount: string): Sent {
  if (id === 'createPortalSession') return { ...call, body: { ...call.body, scopes: ['sub_accounts:read'] } };
  if (id === 'mintApiKey') return { ...call, body: { name: 'k', scopes: ['sub_accounts:read'] } };
  const [key] = (call.body as { keys: Json[] }).keys;
  return { ...call, body: { keys: [{ ...key, sub_account_id: subAccount, scopes: ['sub_accounts:read'] }] } };
}
