import type { Config } from '../../config.ts';
import type { Unreadiness } from '../../ops/health.ts';
import type { MetricValues } from '../../ops/summed-metrics.ts';

/** What the primary says to a worker. Answers carry the `id` of what they answer. */
export type ToWorker =
  /** The first message: what to serve by, and which worker this is, from 1 up. */
  | { readonly kind: 'begin'; readonly config: Config; readonly slot: number }
  /** Whether to take connections, and what keeps all workers together from deciding (empty: at least one is ready). */
  | { readonly kind: 'fleet'; readonly take: boolean; readonly unready: readonly Unreadiness[] }
  /** Make ready to serve by another configuration, and say whether that can be done. */
  | { readonly kind: 'prepare'; readonly id: number; readonly config: Config }
  /** All workers are ready to, or one is not. */
  | { readonly kind: 'decided'; readonly id: number; readonly use: boolean }
  /** Say what was counted. */
  | { readonly kind: 'count'; readonly id: number }
  /** What all have counted, in the text format of Prometheus. */
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  /** Come to an end as after SIGTERM. */
  | { readonly kind: 'drain' };

/** What a worker says to the primary. */
export type FromWorker =
  /** It has begun to listen to the primary. */
  | { readonly kind: 'hello' }
  /** It listens, and what keeps it from deciding. Comes at every change, and at least every {@link beatMs}. */
  | { readonly kind: 'state'; readonly unready: readonly Unreadiness[] }
  /** It can serve by the configuration of `prepare`, or why not. */
  | { readonly kind: 'prepared'; readonly id: number; readonly failure: string | null }
  /** It serves by that. */
  | { readonly kind: 'used'; readonly id: number }
  | { readonly kind: 'counted'; readonly id: number; readonly metrics: readonly MetricValues[] }
  /** A request for `/metrics` came to it: it wants those of all workers. */
  | { readonly kind: 'scrape'; readonly id: number };

/** How often a worker says that it is there, milliseconds. */
export const beatMs = 1_000;
