/** A parent that is changed at random, through both APIs and the command line, and what events that must leave. */
import { randomBytes } from 'node:crypto';
import type { Random } from '../coherence/random.ts';
import type { HttpResponse } from '../http-client.ts';
import { insist, type Ask, type Asked } from './gateways.ts';

/** What is known of an event beforehand. */
export interface ExpectedEvent {
  readonly type: string;
  /** Of what was changed. */
  readonly of: string;
  /** The id of the parent's key, or the name of the operator. */
  readonly by: string;
  readonly previous?: Readonly<Record<string, unknown>>;
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

/** An operator and its token. */
export interface NamedOperator {
  readonly name: string;
  readonly token: string;
}

type Action =
  'create' | 'put' | 'rename' | 'status' | 'mint' | 'revoke' | 'update' | 'import' | 'suspend' | 'refused';
const actions: readonly (readonly [Action, weight: number])[] = [
  ['create', 3],
  ['put', 2],
  ['rename', 5],
  ['status', 6],
  ['mint', 5],
  ['revoke', 5],
  ['update', 2],
  ['import', 1],
  ['suspend', 1],
  ['refused', 3],
];
const lots = actions.flatMap(([action, weight]) => Array<Action>(weight).fill(action));

export class ChangingParent {
  readonly expected: ExpectedEvent[] = [];
  /** Everything that no event may hold. */
  readonly secrets: string[] = [];
  id = '';
  key = '';
  #keyId = '';
  #name = 'Parent';
  #number = 0;
  readonly #subs: Sub[] = [];
  readonly #keys: Key[] = [];
  readonly #imported: { readonly sha256: string; readonly name: string }[] = [];

  readonly #gateways: readonly Asked[];
  readonly #operators: readonly NamedOperator[];
  readonly #random: Random;
  /** Share of the changes that the command line can make which it makes. */
  readonly #cliShare: number;

  constructor(
    gateways: readonly Asked[],
    operators: readonly NamedOperator[],
    random: Random,
    cliShare: number,
  ) {
    [this.#gateways, this.#operators, this.#random, this.#cliShare] = [gateways, operators, random, cliShare];
  }

  /** Creates it, with a key and a sub-account. */
  async begin(): Promise<void> {
    const operator = this.#random.pick(this.#operators);
    const { body } = await this.#asOperator(
      'POST',
      '/accounts',
      { name: this.#name },
      { operator, once: true },
    );
    this.id = String(body['id']);
    this.#expect('account.created', this.id, operator.name);
    const scopes = ['sub_accounts:read', 'sub_accounts:write'];
    const minted = await this.#asOperator(
      'POST',
      `${this.#path}/api-keys`,
      { name: 'key', scopes },
      { operator, once: true },
    );
    [this.#keyId, this.key] = [String(minted.body['id']), String(minted.body['api_key'])];
    this.secrets.push(this.key, String(minted.body['client_secret']));
    this.#expect('api_key.created', this.#keyId, operator.name);
    await this.#create();
  }

  /** Does something, which may change nothing. */
  async step(): Promise<void> {
    const action = this.#random.pick(lots);
    await {
      create: () => this.#create(),
      put: () => this.#put(),
      rename: () => this.#rename(this.#random.pick(this.#subs)),
      status: () => this.#setStatus(this.#random.pick(this.#subs)),
      mint: () => this.#mint(),
      revoke: () => this.#revoke(),
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
    const operator = this.#random.chance(0.3) ? this.#random.pick(this.#operators) : undefined;
    const { body } = operator
      ? await this.#asOperator('POST', `${this.#path}/sub-accounts`, { name }, { operator, once: true })
      : await this.#asParent('POST', '', { name }, { once: true });
    this.#subs.push({ id: String(body['id']), name, status: 'active' });
    this.#expect('sub_account.created', String(body['id']), operator?.name ?? this.#keyId);
  }

  /** Creates one, then perhaps says the same again, then another name. */
  async #put(): Promise<void> {
    const [externalId, name] = [`ext-${this.#newName()}`.replaceAll(' ', '-'), this.#newName()];
    const put = (wanted: string) => this.#asParent('PUT', `/by-external-id/${externalId}`, { name: wanted });
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
    await this.#asParent('PATCH', `/${sub.id}`, { name });
    if (name === sub.name) return;
    this.#expect('sub_account.updated', sub.id, this.#keyId, { name: sub.name });
    sub.name = name;
  }

  async #setStatus(sub: Sub): Promise<void> {
    const [action, status] = this.#random.pick([
      ['deactivate', 'deactivated'],
      ['reactivate', 'active'],
    ] as const);
    const operator = this.#random.chance(0.3) ? this.#random.pick(this.#operators) : undefined;
    if (operator === undefined) await this.#asParent('POST', `/${sub.id}/${action}`);
    else if (this.#takesCli()) await this.#cli(operator, 'sub-accounts', action, this.id, sub.id);
    else
      await this.#asOperator('POST', `${this.#path}/sub-accounts/${sub.id}/${action}`, undefined, {
        operator,
      });
    if (sub.status === status) return;
    const type = status === 'active' ? 'sub_account.reactivated' : 'sub_account.deactivated';
    this.#expect(type, sub.id, operator?.name ?? this.#keyId);
    sub.status = status;
  }

  async #mint(): Promise<void> {
    const sub = this.#random.chance(0.7) ? this.#random.pick(this.#subs) : null;
    const operator = this.#random.pick(this.#operators);
    const body = { name: this.#newName(), scopes: ['a:b'] };
    const minted =
      sub === null
        ? await this.#asOperator('POST', `${this.#path}/api-keys`, body, { operator, once: true })
        : await this.#asParent('POST', `/${sub.id}/api-keys`, body, { once: true });
    const { id, api_key: key, client_secret: secret } = minted.body as Record<string, string | undefined>;
    for (const each of [key, secret]) if (each !== undefined) this.secrets.push(each);
    this.#keys.push({ id: id ?? '', sub, revoked: false });
    this.#expect('api_key.created', id ?? '', sub === null ? operator.name : this.#keyId);
  }

  async #revoke(): Promise<void> {
    if (this.#keys.length === 0) return;
    const key = this.#random.pick(this.#keys);
    const operator =
      key.sub === null || this.#random.chance(0.3) ? this.#random.pick(this.#operators) : undefined;
    if (operator === undefined)
      await this.#asParent('POST', `/${key.sub?.id ?? ''}/api-keys/${key.id}/revoke`);
    else if (this.#takesCli()) await this.#cli(operator, 'keys', 'revoke', key.id);
    else await this.#asOperator('POST', `/api-keys/${key.id}/revoke`, undefined, { operator });
    if (key.revoked) return;
    this.#expect('api_key.revoked', key.id, operator?.name ?? this.#keyId, {
      status: 'active',
      revoked_at: null,
    });
    key.revoked = true;
  }

  async #update(): Promise<void> {
    const operator = this.#random.pick(this.#operators);
    const name = this.#random.chance(0.3) ? this.#name : this.#newName();
    if (this.#takesCli()) await this.#cli(operator, 'accounts', 'update', this.id, '--name', name);
    else await this.#asOperator('PATCH', this.#path, { name }, { operator });
    if (name === this.#name) return;
    this.#expect('account.updated', this.id, operator.name, { name: this.#name });
    this.#name = name;
  }

  /** Some keys that are new, and some that are there. */
  async #import(): Promise<void> {
    const operator = this.#random.pick(this.#operators);
    const fresh = Array.from({ length: this.#random.below(4) }, () => ({
      sha256: randomBytes(32).toString('hex'),
      name: this.#newName(),
    }));
    const keys = [...this.#imported.slice(-2), ...fresh];
    if (keys.length === 0) return;
    const known = keys.length - fresh.length;
    const { body } = await this.#asOperator(
      'POST',
      `${this.#path}/api-keys/import`,
      { keys },
      { operator, once: true },
    );
    this.#imported.push(...fresh);
    for (const { id } of (body['data'] as { id: string }[]).slice(known)) {
      this.#keys.push({ id, sub: null, revoked: false });
      this.#expect('api_key.created', id, operator.name);
    }
  }

  async #suspend(): Promise<void> {
    const operator = this.#random.pick(this.#operators);
    const act = (action: string) =>
      this.#asOperator('POST', `${this.#path}/${action}`, undefined, { operator });
    await act('suspend');
    this.#expect('account.suspended', this.id, operator.name, { status: 'active' });
    if (this.#random.chance(0.5)) await act('suspend');
    await this.#send({ method: 'POST', path: '', body: { name: 'x' } }, 403);
    await act('resume');
    this.#expect('account.resumed', this.id, operator.name, { status: 'suspended' });
  }

  /** What is rejected leaves nothing. */
  async #refused(): Promise<void> {
    const sub = this.#random.pick(this.#subs);
    const [ask, status] = this.#random.pick([
      [{ method: 'POST', path: '', body: { name: '' } }, 400],
      [{ method: 'PATCH', path: `/${sub.id}`, body: { status: 'active' } }, 400],
      [{ method: 'PATCH', path: `/${this.id}`, body: { name: 'x' } }, 404],
      [
        { method: 'POST', path: `/${sub.id}/api-keys`, body: { name: 'x', scopes: ['sub_accounts:write'] } },
        400,
      ],
      [{ method: 'POST', path: `/${sub.id}/api-keys/${this.#keyId}/revoke` }, 404],
    ] as const);
    await this.#send(ask, status);
  }

  #expect(type: string, of: string, by: string, previous?: ExpectedEvent['previous']): void {
    this.expected.push({ type, of, by, ...(previous && { previous }) });
  }

  #newName(): string {
    return `Name ${(this.#number += 1)}`;
  }

  #takesCli(): boolean {
    return this.#random.chance(this.#cliShare);
  }

  async #cli({ token }: NamedOperator, ...args: readonly string[]): Promise<void> {
    const unreachable = 69;
    for (;;) {
      const { code } = await this.#random.pick(this.#gateways).cli(token, ...args);
      if (code === 0) return;
      if (code !== unreachable) throw new Error(`${args.join(' ')}: exit code ${code}`);
    }
  }

  #asParent(method: Ask['method'], path: string, body?: unknown, more: { readonly once?: true } = {}) {
    return this.#send({ method, path, body, ...more });
  }

  async #asOperator(
    method: Ask['method'],
    path: string,
    body: unknown,
    { operator, once }: { readonly operator: NamedOperator; readonly once?: true },
  ): Promise<HttpResponse> {
    const ask: Ask = { method, path, body, key: operator.token, to: 'operator', ...(once && { once }) };
    return must(await insist(this.#gateways, this.#random, ask), ask, undefined);
  }

  /** Under `/v1/sub-accounts`. @param status any of success where it is not said */
  async #send(asked: Pick<Ask, 'method' | 'path' | 'body' | 'once'>, status?: number): Promise<HttpResponse> {
    const ask: Ask = { ...asked, path: `/v1/sub-accounts${asked.path}`, key: this.key, to: 'call' };
    return must(await insist(this.#gateways, this.#random, ask), ask, status);
  }
}

function must(response: HttpResponse, { method, path }: Ask, status: number | undefined): HttpResponse {
  const expected = status === undefined ? response.status < 300 : response.status === status;
  if (expected) return response;
  throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
}
