import { constantRate, pacedMissing } from '../load/paced.ts';
import { get, post, type RequestSpec } from '../load/requests.ts';
import { column, metered, type Case, type Column } from './scenario.ts';

const connections = 64;
const columns: readonly Column[] = [
  { key: 'p50', title: 'p50 µs', digits: 0, better: 'lower' },
  { key: 'p99', title: 'p99 µs', digits: 0, better: 'lower' },
  { key: 'p999', title: 'p99.9 µs', digits: 0 },
  { key: 'max', title: 'max µs', digits: 0 },
  { key: 'ownLagP99', title: "generator's lag p99 µs", digits: 0 },
  column.cpuUs,
  column.errors,
];

/** Latency at the same constant rate for every target, stalls included. */
export const latency: readonly Case[] = [
  latencyCase('latency/get', 'GET, 100 B, constant rate', get('/bytes/100')),
  latencyCase('latency/post', 'POST, 100 B, acting, constant rate', post(100)),
];

function latencyCase(id: string, title: string, spec: RequestSpec): Case {
  return {
    id,
    title,
    columns,
    missing: pacedMissing,
    async measure(target, { seconds, rate }) {
      const { result, cost } = await metered(
        target,
        () => constantRate(target.environment, target.running, spec, { connections, seconds, rate }),
        ({ responses }) => responses,
      );
      const { p50, p99, p999, max, ownLagP99, errors } = result;
      return { ...cost, p50, p99, p999, max, ownLagP99, errors };
    },
  };
}
