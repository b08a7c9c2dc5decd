import { constantRate, pacedMissing } from '../load/paced.ts';
import { get, post, type Exchange } from '../load/requests.ts';
import { column, metered, type Case, type Column } from './scenario.ts';

const connections = 64;
const columns: readonly Column[] = [
  { key: 'p50', title: 'p50 µs', digits: 0 },
  { key: 'p99', title: 'p99 µs', digits: 0 },
  { key: 'p999', title: 'p99.9 µs', digits: 0 },
  { key: 'max', title: 'max µs', digits: 0 },
  { key: 'ownLagP99', title: "generator's lag p99 µs", digits: 0 },
  column.cpuUs,
  column.errors,
];

/** Latency at the same constant rate for everybody, stalls included. */
export const latency: readonly Case[] = [
  latencyCase('latency/get', 'GET, 100 B, constant rate', get('/bytes/100')),
  latencyCase('latency/post', 'POST, 100 B, acting, constant rate', post(100)),
];

function latencyCase(id: string, title: string, exchange: Exchange): Case {
  return {
    id,
    title,
    columns,
    missing: pacedMissing,
    async measure(subject, { seconds, rate }) {
      const { result, cost } = await metered(
        subject,
        () => constantRate(subject.stage, subject.running, exchange, { connections, seconds, rate }),
        ({ answered }) => answered,
      );
      const { p50, p99, p999, max, ownLagP99, errors } = result;
      return { ...cost, p50, p99, p999, max, ownLagP99, errors };
    },
  };
}
