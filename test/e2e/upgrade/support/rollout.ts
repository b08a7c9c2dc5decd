/** Replicas of two versions over one PostgreSQL and one Redis, and the requests that go to whichever are ready. */
import type { Test } from 'tap';
import type { Sql } from '../../../../src/adapters/postgres/connection/sql.ts';
import { operatorToken } from '../../../support/apis.ts';
import { eventually } from '../../../support/eventually.ts';
import { freshDatabase } from '../../../support/postgres.ts';
import { startProcess, type GatewayProcess } from '../../../support/process.ts';
import { freshRedis } from '../../../support/redis.ts';
import { rawSql } from '../../../support/store.ts';
import { startUpstream } from '../../faults/support/upstream.ts';
import { Balancer } from './balancer.ts';
import { startTraffic, type Traffic } from './traffic.ts';

const perSecond = 300;
/** Of requests, where the machine cannot keep the pace: a statement that is late fails there. Otherwise none may fail. */
const lateOnSlowMachine = 0.001;

/** A version to start, with its configuration. */
export interface Build {
  readonly dist: string;
  /** The configuration file. */
  readonly config: string;
}

export type Replicas = readonly [GatewayProcess, GatewayProcess, GatewayProcess];

export class Rollout {
  readonly url: string;
  readonly sql: Sql;
  readonly #t: Test;
  readonly #env: Readonly<Record<string, string>>;
  readonly #balancer: Balancer;
  #traffic: Traffic | undefined;

  static async begin(t: Test): Promise<Rollout> {
    const url = await freshDatabase(t);
    const [redis, upstream] = [await freshRedis(t), await startUpstream(t)];
    return new Rollout(t, url, { REDIS_URL: redis, UPSTREAM_URL: upstream });
  }

  private constructor(t: Test, url: string, stores: Readonly<Record<string, string>>) {
    this.#t = t;
    this.url = url;
    this.sql = rawSql(t, url);
    this.#env = { ...stores, DATABASE_URL: url, ADMIN_TOKEN: operatorToken, LOG_LEVEL: 'warn' };
    this.#balancer = new Balancer(t);
  }

  get traffic(): Traffic {
    if (this.#traffic === undefined) throw new Error('no traffic yet');
    return this.#traffic;
  }

  /** A process of its own, to which the traffic does not go. */
  startOne({ dist, config }: Build): Promise<GatewayProcess> {
    return startProcess(this.#t, { ...this.#env, CONFIG: config }, dist);
  }

  /** Three replicas, to which the traffic goes as soon as they are ready. */
  start(build: Build): Promise<Replicas> {
    const startOne = async (): Promise<GatewayProcess> => {
      const replica = await this.startOne(build);
      this.#balancer.add(replica);
      return replica;
    };
    return Promise.all([startOne(), startOne(), startOne()]);
  }

  used(replicas: Replicas): Promise<void> {
    return eventually(() => replicas.every((replica) => this.#balancer.uses(replica)));
  }

  async stop(replicas: Replicas): Promise<void> {
    const codes = await Promise.all(replicas.map(({ program }) => program.kill('SIGTERM')));
    this.#t.same([...new Set(codes)], [0], 'all end in order');
  }

  async startTraffic(parentKey: string): Promise<void> {
    this.#traffic = startTraffic(this.#balancer, parentKey, perSecond);
    await this.#traffic.goesOn();
  }

  /** No request has failed so far. */
  nothingFailed(name: string): void {
    const { sent, failed, failures } = this.#balancer;
    const most = this.traffic.missed() > 0 ? sent * lateOnSlowMachine : 0;
    this.#t.ok(failed <= most, `${name}: ${failed} of ${sent} requests failed\n${failures.join('\n')}`);
  }

  /** Ends the traffic: no request has failed, and no decision was stale. */
  async end(): Promise<void> {
    const { traffic } = this;
    const seconds = await traffic.stop();
    const { decisions, stale, odd } = traffic.history;
    this.nothingFailed('to the end');
    this.#t.same(stale, [], `${decisions} decisions about ${traffic.revoked()} revoked keys`);
    this.#t.same(odd, []);
    const { sent } = this.#balancer;
    const pace = `${sent} requests in ${seconds.toFixed(1)} s, ${traffic.missed()} left out on a slow machine`;
    this.#t.ok(sent + traffic.missed() > 0.9 * perSecond * seconds, pace);
    this.#t.comment(`${pace}; ${decisions} decisions, ${traffic.revoked()} revokes`);
  }
}
