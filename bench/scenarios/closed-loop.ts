import { get, getAsEach, post, type RequestSpec } from '../load/requests.ts';
import { closedLoop } from '../load/wrk.ts';
import { openConnections } from '../lib/proc.ts';
import { findTool } from '../lib/tools.ts';
import { column, metered, type Case } from './scenario.ts';

const usualConnections = 64;

/** The headline: a small read on 64 connections. */
export const smallGet: readonly Case[] = [
  closedLoopCase('small-get', 'GET, 100 B, 64 connections', get('/bytes/100'), usualConnections),
];

/** Bodies in both directions. Writes act as a sub-account by its external id. */
export const bodies: readonly Case[] = [
  closedLoopCase('bodies/get-10k', 'GET, 10 KB, 64 connections', get('/bytes/10k'), usualConnections),
  closedLoopCase('bodies/get-1m', 'GET, 1 MB, 64 connections', get('/bytes/1m'), usualConnections),
  closedLoopCase('bodies/post-100', 'POST, 100 B, acting, 64 connections', post(100), usualConnections),
  closedLoopCase('bodies/post-10k', 'POST, 10 KB, acting, 64 connections', post(10_240), usualConnections),
  closedLoopCase('bodies/post-1m', 'POST, 1 MB, acting, 64 connections', post(1_048_576), usualConnections),
];

/** The small read on few and on many connections; 64 is the headline itself. */
export const connections: readonly Case[] = [
  closedLoopCase('connections/1', 'GET, 100 B, 1 connection', get('/bytes/100'), 1),
  closedLoopCase('connections/1000', 'GET, 100 B, 1,000 connections', get('/bytes/100'), 1_000),
];

/**
 * What it costs that a connection belongs to one tenant. With more tenants than connections, which 1,000 are, a request
 * often finds none of its tenant's, and one is closed and opened for it.
 */
export const tenants: readonly Case[] = [1, 100, 999].map((accounts) =>
  withConnectionsShown(
    closedLoopCase(
      `tenants/${accounts}`,
      `GET, 100 B, 64 connections, as ${accounts} sub-account${accounts === 1 ? '' : 's'} in turn`,
      getAsEach('/bytes/100', accounts),
      usualConnections,
    ),
  ),
);

/** Adds how many connections to the upstream were open at the end. */
function withConnectionsShown(measured: Case): Case {
  return {
    ...measured,
    columns: [...measured.columns, { key: 'connections', title: 'upstream connections', digits: 0 }],
    async measure(target, effort) {
      const sample = await measured.measure(target, effort);
      return { ...sample, connections: openConnections(target.running.proxyPids, target.upstream.port) };
    },
  };
}

function closedLoopCase(id: string, title: string, spec: RequestSpec, count: number): Case {
  return {
    id,
    title,
    columns: [column.cpuUs, column.perSecond, column.storeUs, column.rssMb, column.errors],
    missing: () => (findTool('wrk') === undefined ? 'apt-get install wrk' : undefined),
    async measure(target, { seconds }) {
      const { result, cost } = await metered(
        target,
        () => closedLoop(target.environment, target.running, spec, { connections: count, seconds }),
        ({ requests }) => requests,
      );
      return { ...cost, perSecond: result.requests / result.seconds, errors: result.errors };
    },
  };
}
