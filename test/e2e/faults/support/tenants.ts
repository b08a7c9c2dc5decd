/** Parents, sub-accounts and keys, made through whatever replica responds. */
import type { Random } from '../../../support/coherence/random.ts';
import type { HttpResponse, HttpClient, Sent } from './http-client.ts';
import type { Asked } from './replica.ts';

/** Longer than a writer waits for a replica that hangs. */
const mutationLimitMs = 8_000;

export interface Parent {
  readonly id: string;
  readonly key: string;
}

/** How a mutation went. */
export interface Done {
  readonly body: Readonly<Record<string, unknown>>;
  /** At least one attempt got no 2xx: it may still take effect at any time. */
  readonly uncertain: boolean;
}

export class Tenants {
  readonly #replicas: readonly Asked[];
  readonly #random: Random;
  readonly #stopped: () => boolean;
  #names = 0;
  /** Changes that got a 503. */
  refused = 0;

  constructor(replicas: readonly Asked[], random: Random, stopped: () => boolean) {
    this.#replicas = replicas;
    this.#random = random;
    this.#stopped = stopped;
  }

  async createParent(): Promise<Parent> {
    const { body } = await this.#once((replica) => replica.operator, '/admin/v1/accounts', {
      body: { name: `parent ${++this.#names}` },
    });
    const id = String(body['id']);
    const made = await this.#once((replica) => replica.operator, `/admin/v1/accounts/${id}/api-keys`, {
      body: { name: 'key', scopes: ['sub_accounts:read', 'sub_accounts:write'] },
    });
    return { id, key: String(made.body['api_key']) };
  }

  async createSubAccount(parent: Parent): Promise<string> {
    return String((await this.create(parent)).body['id']);
  }

  /** The same; tells whether an attempt was lost, and perhaps made another one. */
  create(parent: Parent): Promise<Done> {
    return this.#once((replica) => replica.client, '/v1/sub-accounts', {
      key: parent.key,
      body: { name: `sub ${++this.#names}` },
    });
  }

  /**
   * Creates a sub-account with an `external_id` as soon as `holder` has given that up. `null` where it is not known
   * what became of it.
   */
  async take(parent: Parent, externalId: string, holder: string): Promise<Done | null> {
    for (let lost = false; !this.#stopped();) {
      const response = await this.#ask(
        'POST',
        '/v1/sub-accounts',
        { key: parent.key, body: { name: `sub ${++this.#names}`, external_id: externalId } },
        (replica) => replica.client,
      );
      if (response?.status === 201) return { body: response.body, uncertain: lost };
      const taken = response?.body['sub_account_id'];
      if (typeof taken === 'string' && taken !== holder) return { body: { id: taken }, uncertain: true };
      lost ||= response?.status !== 409;
    }
    return null;
  }

  async mint(parent: Parent, sub: string): Promise<{ readonly id: string; readonly key: string }> {
    const { body } = await this.#once((replica) => replica.client, `/v1/sub-accounts/${sub}/api-keys`, {
      key: parent.key,
      body: { name: 'key' },
    });
    return { id: String(body['id']), key: String(body['api_key']) };
  }

  /**
   * An idempotent mutation, through one replica after another until one responds with 2xx. The 404 of a repeated deletion
   * promises as much. `null` where the run ended.
   */
  async insist(
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    sent: Sent,
    via: (replica: Asked) => HttpClient = (replica) => replica.client,
  ): Promise<Done | null> {
    for (let attempt = 0; !this.#stopped(); attempt++) {
      const response = await this.#ask(method, path, sent, via);
      if (response?.status === 503) this.refused += 1;
      if (response !== undefined && response.status < 300)
        return { body: response.body, uncertain: attempt > 0 };
      if (method === 'DELETE' && attempt > 0 && response?.status === 404)
        return { body: {}, uncertain: true };
      // 429: attempts that this program has given up may still wait in a replica that cannot reach its store.
      if (response !== undefined && response.status < 500 && response.status !== 429)
        throw new Error(`${path}: ${JSON.stringify(response)}`);
      await pause(20);
    }
    return null;
  }

  /** A mutation that makes something new each time: what a lost attempt made is never heard of again. */
  async #once(via: (replica: Asked) => HttpClient, path: string, sent: Sent): Promise<Done> {
    const done = await this.insist('POST', path, sent, via);
    if (done === null) throw new RunEnded();
    return done;
  }

  #ask(
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    sent: Sent,
    via: (replica: Asked) => HttpClient,
  ): Promise<HttpResponse | undefined> {
    return via(this.#random.pick(this.#replicas)).send(method, path, { limitMs: mutationLimitMs, ...sent });
  }
}

/** Unwinds what is under way when the run is over. */
export class RunEnded extends Error {}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
