/** A parent that is changed at random, through both APIs and the command line, and what events that must leave. */
import { randomBytes } from 'node:crypto';
import type { Random } from '../coherence/random.ts';
import type { Callers } from './callers.ts';

/** What is known of an event beforehand. */
export interface ExpectedEvent {
  readonly type: string;
  /** Of what was changed. */
  readonly of: string;
  /** The id of the parent's key, or the name of the operator. */
  readonly by: string;
  readonly previous?: Readonly<Record<string, unknown>>;
  readonly step: number;
}

interface Key {
  readonly id: string;
  readonly sub: Sub | null;
  revoked: boolean;
}

interface Sub {
  readonly id: string;
  name: string;
  status: 'active' | 'deactivated';
}

/** How often each is done. */
const weights = {
  ...{ create: 3, put: 2, rename: 5, status: 6, mint: 5, revoke: 5 },
  ...{ revokeAll: 1, update: 2, import: 1, suspend: 1, refused: 3 },
};
type Action = keyof typeof weights;
const lots = (Object.keys(weights) as Action[]).flatMap((action) =>
  Array<Action>(weights[action]).fill(action),
);

export class ChangingParent {
  readonly expected: ExpectedEvent[] = [];
  /** Everything that no event may hold. */
  readonly secrets: string[] = [];
  id = '';
  key = '';
  #keyId = '';
  #name = 'Parent';
  #number = 0;
  #step = 0;
  readonly #subs: Sub[] = [];
  readonly #keys: Key[] = [];
  readonly #imported: { readonly sha256: string; readonly name: string }[] = [];
  readonly #callers: Callers;
  readonly #random: Random;

  constructor(callers: Callers, random: Random) {
    [this.#callers, this.#random] = [callers, random];
  }

  /** Creates it, with a key and a sub-account. */
  async begin(): Promise<void> {
    const operator = this.#callers.anyOperator();
    const { body } = await this.#callers.operatorCreates(operator, '/accounts', { name: this.#name });
    this.id = String(body['id']);
    this.#expect('account.created', this.id, operator.name);
    this.#step += 1;
    const scopes = ['sub_accounts:read', 'sub_accounts:write'];
    const minted = await this.#callers.operatorCreates(operator, `${this.#path}/api-keys`, {
      name: 'key',
      scopes,
    });
    [this.#keyId, this.key] = [String(minted.body['id']), String(minted.body['api_key'])];
    this.secrets.push(this.key, String(minted.body['client_secret']));
    this.#expect('api_key.created', this.#keyId, operator.name);
    this.#step += 1;
    await this.#create();
  }

  /** Does something, which may change nothing. */
  async step(): Promise<void> {
    this.#step += 1;
    const action = this.#random.pick(lots);
    await {
      create: () => this.#create(),
      put: () => this.#put(),
      rename: () => this.#rename(this.#random.pick(this.#subs)),
      status: () => this.#setStatus(this.#random.pick(this.#subs)),
      mint: () => this.#mint(),
      revoke: () => this.#revoke(),
      revokeAll: () => this.#revokeAll(),
      update: () => this.#update(),
      import: () => this.#import(),
      suspend: () => this.#suspend(),
      refused: () => this.#refused(),
    }[action]();
  }

  get #path(): string {
    return `/accounts/${this.id}`;
  }

  async #create(): Promise<void> {
    const name = this.#newName();
    const operator = this.#callers.sometimesOperator();
    const { body } = operator
      ? await this.#callers.operatorCreates(operator, `${this.#path}/sub-accounts`, { name })
      : await this.#callers.parentCreates(this.key, '', { name });
    this.#subs.push({ id: String(body['id']), name, status: 'active' });
    this.#expect('sub_account.created', String(body['id']), operator?.name ?? this.#keyId);
  }

  /** Creates one, then perhaps says the same again, then another name. */
  async #put(): Promise<void> {
    const [externalId, name] = [`ext-${this.#newName()}`.replaceAll(' ', '-'), this.#newName()];
    const put = (wanted: string) =>
      this.#callers.parent(this.key, 'PUT', `/by-external-id/${externalId}`, { name: wanted });
    const id = String((await put(name)).body['id']);
    const sub: Sub = { id, name, status: 'active' };
    this.#subs.push(sub);
    this.#expect('sub_account.created', id, this.#keyId);
    if (this.#random.chance(0.5)) await put(name);
    if (this.#random.chance(0.5)) return;
    const renamed = this.#newName();
    await put(renamed);
    this.#expect('sub_account.updated', id, this.#keyId, { name });
    sub.name = renamed;
  }

  async #rename(sub: Sub): Promise<void> {
    const name = this.#random.chance(0.3) ? sub.name : this.#newName();
    await this.#callers.parent(this.key, 'PATCH', `/${sub.id}`, { name });
    if (name === sub.name) return;
    this.#expect('sub_account.updated', sub.id, this.#keyId, { name: sub.name });
    sub.name = name;
  }

  async #setStatus(sub: Sub): Promise<void> {
    const [action, status] = this.#random.pick([
      ['deactivate', 'deactivated'],
      ['reactivate', 'active'],
    ] as const);
    const operator = this.#callers.sometimesOperator();
    const whole = `${this.#path}/sub-accounts/${sub.id}/${action}`;
    const cli = `sub-accounts ${action} ${this.id} ${sub.id}`;
    await this.#callers.post(operator, this.key, `/${sub.id}/${action}`, whole, cli);
    if (sub.status === status) return;
    const type = status === 'active' ? 'sub_account.reactivated' : 'sub_account.deactivated';
    this.#expect(type, sub.id, operator?.name ?? this.#keyId);
    sub.status = status;
  }

  async #mint(): Promise<void> {
    const sub = this.#random.chance(0.7) ? this.#random.pick(this.#subs) : null;
    const operator = this.#callers.anyOperator();
    const body = { name: this.#newName(), scopes: ['a:b'] };
    const minted =
      sub === null
        ? await this.#callers.operatorCreates(operator, `${this.#path}/api-keys`, body)
        : await this.#callers.parentCreates(this.key, `/${sub.id}/api-keys`, body);
    const { id, api_key: key, client_secret: secret } = minted.body as Record<string, string | undefined>;
    for (const each of [key, secret]) if (each !== undefined) this.secrets.push(each);
    this.#keys.push({ id: id ?? '', sub, revoked: false });
    this.#expect('api_key.created', id ?? '', sub === null ? operator.name : this.#keyId);
  }

  async #revoke(): Promise<void> {
    if (this.#keys.length === 0) return;
    const key = this.#random.pick(this.#keys);
    const operator = key.sub === null ? this.#callers.anyOperator() : this.#callers.sometimesOperator();
    const path = `/api-keys/${key.id}/revoke`;
    const cli = `keys revoke ${key.id}`;
    await this.#callers.post(operator, this.key, `/${key.sub?.id ?? ''}${path}`, path, cli);
    this.#expectRevoked([key], operator?.name ?? this.#keyId);
  }

  async #revokeAll(): Promise<void> {
    const sub = this.#random.pick(this.#subs);
    const operator = this.#callers.sometimesOperator();
    const path = `/${sub.id}/api-keys/revoke-all`;
    await this.#callers.post(operator, this.key, path, `/accounts${path}`, `keys revoke --all ${sub.id}`);
    const keys = this.#keys.filter((key) => key.sub === sub);
    this.#expectRevoked(keys, operator?.name ?? this.#keyId);
  }

  async #update(): Promise<void> {
    const operator = this.#callers.anyOperator();
    const name = this.#random.chance(0.3) ? this.#name : this.#newName();
    if (this.#callers.takesCli())
      await this.#callers.cli(operator, 'accounts', 'update', this.id, '--name', name);
    else await this.#callers.operator(operator, 'PATCH', this.#path, { name });
    if (name === this.#name) return;
    this.#expect('account.updated', this.id, operator.name, { name: this.#name });
    this.#name = name;
  }

  /** Some keys that are new, and some that are there. */
  async #import(): Promise<void> {
    const operator = this.#callers.anyOperator();
    const fresh = Array.from({ length: this.#random.below(4) }, () => ({
      sha256: randomBytes(32).toString('hex'),
      name: this.#newName(),
    }));
    const keys = [...this.#imported.slice(-2), ...fresh];
    if (keys.length === 0) return;
    const known = keys.length - fresh.length;
    const { body } = await this.#callers.operatorCreates(operator, `${this.#path}/api-keys/import`, { keys });
    this.#imported.push(...fresh);
    for (const { id } of (body['data'] as { id: string }[]).slice(known)) {
      this.#keys.push({ id, sub: null, revoked: false });
      this.#expect('api_key.created', id, operator.name);
    }
  }

  async #suspend(): Promise<void> {
    const operator = this.#callers.anyOperator();
    const act = (action: string) => this.#callers.operator(operator, 'POST', `${this.#path}/${action}`);
    await act('suspend');
    this.#expect('account.suspended', this.id, operator.name, { status: 'active' });
    if (this.#random.chance(0.5)) await act('suspend');
    await this.#callers.parent(this.key, 'POST', '', { name: 'x' }, 403);
    await act('resume');
    this.#expect('account.resumed', this.id, operator.name, { status: 'suspended' });
  }

  /** What is rejected leaves nothing. */
  async #refused(): Promise<void> {
    const sub = this.#random.pick(this.#subs);
    const [method, path, status, body] = this.#random.pick([
      ['POST', '', 400, { name: '' }],
      ['PATCH', `/${sub.id}`, 400, { status: 'active' }],
      ['PATCH', `/${this.id}`, 404, { name: 'x' }],
      ['POST', `/${sub.id}/api-keys`, 400, { name: 'x', scopes: ['sub_accounts:write'] }],
      ['POST', `/${sub.id}/api-keys/${this.#keyId}/revoke`, 404, undefined],
    ] as const);
    await this.#callers.parent(this.key, method, path, body, status);
  }

  #expect(type: string, of: string, by: string, previous?: ExpectedEvent['previous']): void {
    this.expected.push({ type, of, by, step: this.#step, ...(previous && { previous }) });
  }

  #expectRevoked(keys: readonly Key[], by: string): void {
    for (const key of keys) {
      if (!key.revoked) this.#expect('api_key.revoked', key.id, by, { status: 'active', revoked_at: null });
      key.revoked = true;
    }
  }

  #newName(): string {
    return `Name ${(this.#number += 1)}`;
  }
}
