import { tuning } from './tuning.ts';

/**
 * Requests a second that a replica lets through while it cannot hear of the others: its last share of the rate, and one request
 * in ten seconds however small that is, so that a tenant within its limit is never shut out. Where these single requests are
 * much of a small rate, shares make room for them: all replicas together stay within {@link tuning.mostShares} times the rate
 * as long as there are no more than 15 for each request a second.
 */
export function rateAlone(share: number, rate: number, replicas: number): number {
  const spare = ((tuning.mostShares - 1) * rate) / replicas;
  const least = Math.max(tuning.leastAlone, Math.min(2 * tuning.leastAlone, spare));
  const part = Math.max(0, Math.min(1, tuning.mostShares - (replicas * least) / rate));
  return Math.max(least, part * share * rate);
}
