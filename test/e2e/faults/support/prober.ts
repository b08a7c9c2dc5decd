import type { Random } from '../../../support/coherence/random.ts';
import type { Probe } from './cells.ts';
import type { HttpResponse } from './http-client.ts';
import { now, type History } from './history.ts';
import type { Asked } from './replica.ts';

/** Responses by which a gateway says that it does not decide, and those of what stands between. */
const undecided: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Sends probes and writes down what they show. */
export class Prober {
  readonly #replicas: readonly Asked[];
  readonly #history: History;
  readonly #random: Random;
  readonly #stopped: () => boolean;
  /** What each cell shows at present. */
  readonly #shown = new Map<number, readonly Probe[]>();

  constructor(replicas: readonly Asked[], history: History, random: Random, stopped: () => boolean) {
    this.#replicas = replicas;
    this.#history = history;
    this.#random = random;
    this.#stopped = stopped;
  }

  show(cell: number, probes: readonly Probe[]): void {
    this.#shown.set(cell, probes);
  }

  /** Every probe to every replica, now. */
  burst(probes: readonly Probe[]): void {
    for (const probe of probes) for (const replica of this.#replicas) void this.#send(replica, probe);
  }

  /**
   * Probes every replica until the run is over.
   *
   * @param lanes probes under way at once to one replica; one that hangs keeps each waiting for its response
   * @param pauseMs between two probes of one lane
   */
  async run(lanes: number, pauseMs: number): Promise<void> {
    const watched = this.#replicas.flatMap((replica) => Array<Asked>(lanes).fill(replica));
    await Promise.all(watched.map((replica) => this.#watch(replica, pauseMs)));
  }

  async #watch(replica: Asked, pauseMs: number): Promise<void> {
    while (!this.#stopped()) {
      const probes = [...this.#shown.values()].flat();
      if (probes.length > 0) await this.#send(replica, this.#random.pick(probes));
      await new Promise((resolve) => setTimeout(resolve, this.#random.between(0, 2 * pauseMs)));
    }
  }

  async #send(replica: Asked, probe: Probe): Promise<void> {
    const began = now();
    const response = await probe.send(replica.client);
    const ended = now();
    if (response === undefined || undecided.has(response.status)) {
      this.#history.undecided += 1;
      return;
    }
    const value = meaning(probe, response);
    if (value === undefined) this.#history.odd.push(`${probe.object}: ${JSON.stringify(response)}`);
    else this.#history.observe({ object: probe.object, value, began, ended, by: replica.name });
  }
}

function meaning(
  { means, byTenant = false, byPolicy = false }: Probe,
  { status, body, policy = '' }: HttpResponse,
): string | undefined {
  if (status === 200 && byPolicy) return /^"parent";q=(\d+);/.exec(policy)?.[1];
  if (status === 200 && byTenant) return String(body['tenant']);
  return means[status === 200 ? '200' : String(body['code'])];
}
