import type { Registry } from 'prom-client';
import { SummedMetrics, type MetricValues } from '../../ops/summed-metrics.ts';
import type { Timers } from '../../ports/timers.ts';
import type { Member } from './member.ts';
import { Questions } from './questions.ts';
import type { Workers } from './workers.ts';

/** Time limit for a worker's answer, in milliseconds. For a slower worker, its previous answer is used. */
const limitMs = 1_000;

/** Collects the metrics of all workers, for the worker that got the request for `/metrics`. */
export class ScrapeAll {
  readonly #workers: Workers;
  readonly #questions: Questions<readonly MetricValues[]>;
  readonly #summed: SummedMetrics;
  #nextId = 1;
  #underWay: Promise<string> | undefined;

  /** @param own metrics of the primary */
  constructor(workers: Workers, own: Registry, timers: Timers) {
    this.#workers = workers;
    this.#questions = new Questions(timers, limitMs);
    this.#summed = new SummedMetrics(own);
  }

  counted(member: Member, id: number, metrics: readonly MetricValues[]): void {
    this.#summed.counted(member.id, metrics);
    this.#questions.answered(member, id, metrics);
  }

  gone(member: Member): void {
    this.#questions.gone(member);
    void this.#summed.gone(member.id);
  }

  /** Returns metrics in the Prometheus text format. Concurrent calls share one result. */
  text(): Promise<string> {
    return (this.#underWay ??= this.#gather().finally(() => (this.#underWay = undefined)));
  }

  async #gather(): Promise<string> {
    const id = this.#nextId++;
    await this.#questions.ask(id, this.#workers.members, ({ process }) =>
      process.send({ kind: 'count', id }),
    );
    return this.#summed.text();
  }
}
