import { Type, type Static } from 'typebox';
import type { UsageConfig } from '../../config.ts';
import type { SilentReplica, UsageStore } from '../../ports/usage.ts';
import { closed, noQuery, nullableText, timestamp } from '../rest/typebox.ts';
import type { ListedReplica, ReplicaList, ReplicaListReading } from '../../ports/replica-list.ts';
import type { ReportedFigures } from '../../ports/replica-figures.ts';
import type { OperatorApp } from './operator-token.ts';

export interface ReplicasDeps {
  readonly replicaList: ReplicaList;
  readonly usage: Pick<UsageStore, 'silent'>;
  readonly config: { readonly usage: Pick<UsageConfig, 'lostAfterMs'> };
  /** Returns the id under which this replica is registered; `null` if it is not registered. */
  readonly ownReplicaId: () => string | null;
}

const figuresBody = closed({
  reported_at: timestamp,
  ready: Type.Boolean(),
  unready: Type.Array(Type.String()),
  requests_per_second: Type.Number(),
  refusals: Type.Array(closed({ code: Type.String(), count: Type.Integer() })),
  p50_ms: Type.Union([Type.Number(), Type.Null()]),
  p99_ms: Type.Union([Type.Number(), Type.Null()]),
  open_streams: Type.Integer(),
  open_connections: Type.Integer(),
  rss_bytes: Type.Integer(),
  redis: Type.Enum(['up', 'down', 'off']),
  certificate_expires_at: Type.Union([timestamp, Type.Null()]),
});

const replicaBody = closed({
  id: Type.String(),
  host: nullableText(),
  self: Type.Boolean(),
  state: Type.Enum(['live', 'leaving', 'lapsed']),
  version: nullableText(),
  lease_ms: Type.Integer(),
  lease_age_ms: Type.Integer(),
  clock_offset_ms: Type.Union([Type.Integer(), Type.Null()]),
  applied: Type.Integer(),
  lag: Type.Integer(),
  figures: Type.Union([figuresBody, Type.Null()]),
});

const silentBody = closed({
  id: Type.String(),
  host: nullableText(),
  last_seen: timestamp,
  through: timestamp,
  given_up: Type.Boolean(),
});

const replicaListBody = closed({
  position: Type.Integer(),
  incarnation: Type.String(),
  complete: Type.Boolean(),
  data: Type.Array(replicaBody),
  silent: Type.Array(silentBody),
});

/**
 * `GET /replicas`: shows every replica, with the position that it has confirmed, the state of its lease, and the figures
 * that it has reported. Also shows silent replicas. Their usage counts may be missing from reports.
 */
export function replicasRoute(app: OperatorApp, deps: ReplicasDeps): void {
  const { replicaList, usage, config, ownReplicaId } = deps;
  app.get(
    '/replicas',
    { schema: { querystring: noQuery, response: { 200: replicaListBody } }, config: { role: 'viewer' } },
    async () => {
      const silent = await usage.silent(config.usage.lostAfterMs);
      return toBody(await replicaList.read(), silent, ownReplicaId());
    },
  );
}

function toBody(
  { seq, incarnation, complete, entries }: ReplicaListReading,
  silent: readonly SilentReplica[],
  own: string | null,
) {
  return {
    position: seq,
    incarnation,
    complete,
    data: entries.map((entry): Static<typeof replicaBody> => ({
      id: entry.id,
      host: entry.host,
      self: entry.id === own,
      state: stateOf(entry),
      version: entry.version,
      lease_ms: entry.leaseMs,
      lease_age_ms: entry.ageMs,
      clock_offset_ms: entry.clockAheadMs,
      applied: entry.applied,
      // A replica may already have confirmed a position that is newer than `seq`. The replica's lag is then 0.
      lag: Math.max(0, seq - entry.applied),
      figures: entry.figures && figuresToBody(entry.figures),
    })),
    silent: silent.map(({ id, host, lastSeen, through, givenUp }) => ({
      id,
      host,
      last_seen: lastSeen.toISOString(),
      through: through.toISOString(),
      given_up: givenUp,
    })),
  } satisfies Static<typeof replicaListBody>;
}

function figuresToBody(figures: ReportedFigures): Static<typeof figuresBody> {
  const { certificateExpiresMs: expiresMs } = figures;
  return {
    reported_at: figures.reportedAt.toISOString(),
    ready: figures.ready,
    unready: [...figures.unready],
    requests_per_second: figures.requestsPerSecond,
    refusals: [...figures.refusals],
    p50_ms: figures.p50Ms,
    p99_ms: figures.p99Ms,
    open_streams: figures.openStreams,
    open_connections: figures.openConnections,
    rss_bytes: figures.rssBytes,
    redis: figures.redis,
    certificate_expires_at: expiresMs === null ? null : new Date(expiresMs).toISOString(),
  };
}

/**
 * Returns the state of a replica. `lapsed` takes precedence over `leaving`, because a replica without a valid lease
 * decides nothing.
 */
function stateOf({ ageMs, leaseMs, leaving }: ListedReplica): 'live' | 'leaving' | 'lapsed' {
  if (ageMs > leaseMs) return 'lapsed';
  return leaving ? 'leaving' : 'live';
}
