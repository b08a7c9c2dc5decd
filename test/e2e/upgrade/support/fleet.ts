/** Replicas of two versions over one PostgreSQL and one Redis, and requests and changes that go to those in use. */
import { setTimeout as sleep } from 'node:timers/promises';
import { makeParents, operatorClient, operatorToken, type Parent } from '../../../support/apis.ts';
import type { SubAccountUnderTest } from '../../../support/apis.ts';
import { configFile } from '../../../support/config-files.ts';
import { eventually } from '../../../support/eventually.ts';
import { httpClient, type Call, type HttpResponse } from '../../../support/http-client.ts';
import { becomes, startProcess, type GatewayProcess } from '../../../support/process.ts';
import type { Scope } from '../../../support/servers.ts';
import { startUpstream } from '../../faults/support/upstream.ts';

const clients = 4;
/** Between two requests of a client: this is about what they meet, not about how many there are. */
const pauseMs = 50;
const limits = 'limits: { changes_per_second: 0, reads_per_second: 0, max_event_loop_delay_ms: 0 }';

export interface Member extends GatewayProcess {
  readonly call: Call;
  readonly operator: Call;
  readonly underWay: Set<Promise<unknown>>;
}

export class Fleet {
  /** Requests without a response, or with one that no state of an account explains. */
  readonly failures: string[] = [];
  /** Decisions that a change which had its 2xx contradicts. */
  readonly stale: string[] = [];
  sent = 0;
  decisions = 0;
  readonly #t: Scope;
  readonly #stores: Readonly<Record<'DATABASE_URL' | 'REDIS_URL', string>>;
  #inUse: readonly Member[] = [];
  #turn = 0;
  #rounds = 0;
  #stopped = false;
  #load: readonly Promise<void>[] = [];

  constructor(t: Scope, stores: Readonly<Record<'DATABASE_URL' | 'REDIS_URL', string>>) {
    this.#t = t;
    this.#stores = stores;
  }

  /** Starts a replica of a build, and uses it from when it is ready. */
  async start(dist: string): Promise<Member> {
    const env = {
      ...this.#stores,
      UPSTREAM_URL: await startUpstream(this.#t),
      ADMIN_TOKEN: operatorToken,
      // A machine that has other things to do must not cost a replica its lease.
      COHERENCE_LEASE_MS: '10000',
      CONFIG: configFile(this.#t, `drain_delay_ms: 0\n${limits}\n`),
    };
    const replica = await startProcess(this.#t, env, dist);
    await becomes(replica.internalUrl, 200);
    const member = {
      ...replica,
      call: httpClient(this.#t, replica.url),
      operator: operatorClient(this.#t, replica.internalUrl),
      underWay: new Set<never>(),
    };
    this.#inUse = [...this.#inUse, member];
    return member;
  }

  /** Sends nothing more to a replica, and then ends it. Returns its exit code. */
  async end(member: Member, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    this.#inUse = this.#inUse.filter((other) => other !== member);
    await Promise.all(member.underWay);
    return member.program.kill(signal);
  }

  /** Begins with requests and changes, until {@link stop}. */
  async load({ call, operator }: Member): Promise<void> {
    const parent = await makeParents(call, operator)();
    const sub = await parent.create();
    const key = await sub.mint();
    const loop = async (work: () => Promise<unknown>): Promise<void> => {
      while (!this.#stopped) await work();
    };
    const ask = () =>
      this.#send(this.#member(this.#turn++), 'GET', '/item', parent.key).then(() => sleep(pauseMs));
    this.#load = [
      ...Array.from({ length: clients }, () => loop(ask)),
      loop(() => this.#change(parent, sub, key)),
    ];
  }

  /** Resolves when changes have gone through each replica in use. */
  async goesOn(): Promise<void> {
    // One round was under way already.
    const enough = this.#rounds + this.#inUse.length + 1;
    await eventually(() => this.#rounds >= enough);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#load);
  }

  /** Revokes a key and deactivates its account through one replica; each is enforced by all replicas at its 2xx. */
  async #change(parent: Parent, { id }: SubAccountUnderTest, steady: string): Promise<void> {
    const post = (path: string, body?: object) =>
      this.#send(this.#member(this.#rounds), 'POST', `/v1/sub-accounts/${id}${path}`, parent.key, body);
    const minted = (await post('/api-keys', { name: 'short-lived' }))?.body;
    const key = String(minted?.['api_key']);
    await this.#decideAll(key, '200');
    await post(`/api-keys/${String(minted?.['id'])}/revoke`);
    await this.#decideAll(key, '401 api_key_revoked');
    await post('/deactivate');
    await this.#decideAll(steady, '403 account_deactivated');
    await post('/reactivate');
    await this.#decideAll(steady, '200');
    this.#rounds += 1;
  }

  /** One after another, each time from another one on: what one replica wrote to Redis is read by the next. */
  async #decideAll(key: string, expected: string): Promise<void> {
    const first = this.#rounds % this.#inUse.length;
    for (const member of [...this.#inUse.slice(first), ...this.#inUse.slice(0, first)]) {
      const response = await this.#send(member, 'GET', '/item', key, undefined, [200, 401, 403]);
      if (response === undefined) continue;
      this.decisions += 1;
      const decided = [response.status, response.body['code']].join(' ').trim();
      if (decided !== expected) this.stale.push(`${decided} for ${expected}`);
    }
  }

  #member(turn: number): Member {
    const member = this.#inUse[turn % this.#inUse.length];
    if (member === undefined) throw new Error('no replica is in use');
    return member;
  }

  async #send(
    { call, underWay }: Member,
    ...[method, path, key, body, expected = [200, 201]]: [string, string, string, object?, number[]?]
  ): Promise<HttpResponse | undefined> {
    this.sent += 1;
    const sending = call(method, path, { key, body }).catch(String);
    underWay.add(sending);
    const response = await sending;
    underWay.delete(sending);
    if (typeof response !== 'string' && expected.includes(response.status)) return response;
    const came = typeof response === 'string' ? response : `${response.status} ${response.text}`;
    this.failures.push(`${method} ${path}: ${came}`);
    return undefined;
  }
}
