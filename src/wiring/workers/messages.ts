import type { Config } from '../../config.ts';
import type { Unreadiness } from '../../ops/health.ts';
import type { MetricValues } from '../../ops/summed-metrics.ts';

/** Messages from the primary to a worker. A reply carries the `id` of the message it answers. */
export type ToWorker =
  /** First message: the configuration, and the worker's number, from 1. */
  | { readonly kind: 'begin'; readonly config: Config; readonly slot: number }
  /** Says whether to take connections, and the reasons why no worker can decide (empty if at least one can). */
  | { readonly kind: 'group'; readonly take: boolean; readonly unready: readonly Unreadiness[] }
  /** Asks the worker to prepare `config`. The worker replies with `prepared`. */
  | { readonly kind: 'prepare'; readonly id: number; readonly config: Config }
  /** Says whether all workers can use the configuration. */
  | { readonly kind: 'decided'; readonly id: number; readonly use: boolean }
  /** Asks for the worker's metrics. */
  | { readonly kind: 'count'; readonly id: number }
  /** Metrics of all workers, in the Prometheus text format. */
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  /** Ends the worker as SIGTERM would. */
  | { readonly kind: 'drain' };

/** Messages from a worker to the primary. */
export type FromWorker =
  /** The worker is ready for messages from the primary. */
  | { readonly kind: 'hello' }
  /**
   * The worker's listeners are open; `unready` has the reasons why it cannot decide. The worker sends this on every
   * change, and at least every {@link beatMs}.
   */
  | { readonly kind: 'state'; readonly unready: readonly Unreadiness[] }
  /** Reply to `prepare`. `failure` says why the worker cannot use the configuration; `null` if it can. */
  | { readonly kind: 'prepared'; readonly id: number; readonly failure: string | null }
  /** The worker uses the new configuration. */
  | { readonly kind: 'used'; readonly id: number }
  | { readonly kind: 'counted'; readonly id: number; readonly metrics: readonly MetricValues[] }
  /** The worker received a request for `/metrics` and asks for the metrics of all workers. */
  | { readonly kind: 'scrape'; readonly id: number };

/** Maximum milliseconds between a worker's `state` messages. */
export const beatMs = 1_000;
