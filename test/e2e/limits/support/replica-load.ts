/** Requests of several tenants at several gateways, as many as were asked for, and what became of each. */
import { Pool } from 'undici';

export interface Tenant {
  readonly name: string;
  readonly key: string;
  /** Requests a second. */
  perSecond: number;
}

/** One request, by when it was sent, on the clock of the load. */
interface SentRequest {
  readonly tenant: Tenant;
  readonly replica: number;
  readonly atMs: number;
  readonly tookMs: number;
  /** `null` where its connection broke. */
  readonly status: number | null;
}

const tickMs = 5;

export class ReplicaLoad {
  readonly sent: SentRequest[] = [];
  /** The part of each tenant's requests that each replica gets; 0 for one that is gone. */
  parts: readonly number[] = [];
  readonly #tenants: readonly Tenant[];
  readonly #pools: readonly Pool[];
  readonly #due: Map<Tenant, number[]>;
  readonly #underWay = new Set<Promise<void>>();
  readonly #began = performance.now();
  readonly #ticking: NodeJS.Timeout;
  #lastMs = 0;

  constructor(urls: readonly string[], tenants: readonly Tenant[]) {
    this.#tenants = tenants;
    this.#pools = urls.map(
      (url) => new Pool(url, { connections: 64, pipelining: 1, headersTimeout: 30_000 }),
    );
    this.#due = new Map(tenants.map((tenant) => [tenant, urls.map(() => 0)]));
    this.#ticking = setInterval(() => this.#tick(), tickMs);
  }

  get nowMs(): number {
    return performance.now() - this.#began;
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticking);
    await Promise.all(this.#underWay);
    for (const pool of this.#pools) await pool.destroy();
  }

  #tick(): void {
    const now = this.nowMs;
    const passedMs = now - this.#lastMs;
    this.#lastMs = now;
    for (const tenant of this.#tenants) {
      const due = this.#due.get(tenant) ?? [];
      this.parts.forEach((part, replica) => {
        let count = (due[replica] ?? 0) + (part * tenant.perSecond * Math.min(passedMs, 200)) / 1000;
        for (; count >= 1; count--) this.#begin(tenant, replica);
        due[replica] = count;
      });
    }
  }

  #begin(tenant: Tenant, replica: number): void {
    const one = this.#send(tenant, replica).finally(() => this.#underWay.delete(one));
    this.#underWay.add(one);
  }

  async #send(tenant: Tenant, replica: number): Promise<void> {
    const atMs = this.nowMs;
    let status: number | null = null;
    try {
      const headers = { authorization: `Bearer ${tenant.key}` };
      const reply = await this.#pools[replica]?.request({ path: '/', method: 'GET', headers });
      await reply?.body.dump();
      status = reply?.statusCode ?? null;
    } catch {
      // Killed while it was on its way.
    }
    this.sent.push({ tenant, replica, atMs, tookMs: this.nowMs - atMs, status });
  }
}
