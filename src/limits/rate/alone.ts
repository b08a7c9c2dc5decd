import { tuning } from './tuning.ts';

/**
 * Requests a second that a replica admits while it cannot hear from the others: its last share of the rate, but at
 * least one request in ten seconds, so that a tenant within its limit is never shut out. If these single requests are a
 * large part of a small rate, shares shrink to make room: all replicas together stay within {@link tuning.mostShares}
 * times the rate as long as there are at most 15 replicas for each request a second.
 */
export function rateAlone(share: number, rate: number, replicas: number): number {
  const spare = ((tuning.mostShares - 1) * rate) / replicas;
  const least = Math.max(tuning.leastAlone, Math.min(2 * tuning.leastAlone, spare));
  const part = Math.max(0, Math.min(1, tuning.mostShares - (replicas * least) / rate));
  return Math.max(least, part * share * rate);
}
