import { Type, type Static } from 'typebox';
import type { UsageConfig } from '../../config.ts';
import type { SilentReplica, UsageStore } from '../../ports/usage.ts';
import { closed, noQuery, nullableText, timestamp } from '../rest/typebox.ts';
import type { ListedReplica, ReplicaList, ReplicaListReading } from '../../ports/replica-list.ts';
import type { OperatorApp } from './operator-token.ts';

export interface ReplicasDeps {
  readonly replicaList: ReplicaList;
  readonly usage: Pick<UsageStore, 'silent'>;
  readonly config: { readonly usage: Pick<UsageConfig, 'lostAfterMs'> };
  /** Returns the id under which this replica is registered; `null` if it is not registered. */
  readonly ownReplicaId: () => string | null;
}

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
 * `GET /replicas`: shows every replica, with the position that it has confirmed and the state of its lease. Also shows
 * silent replicas. Their usage counts may be missing from reports.
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

/**
 * Returns the state of a replica. `lapsed` takes precedence over `leaving`, because a replica without a valid lease
 * decides nothing.
 */
function stateOf({ ageMs, leaseMs, leaving }: ListedReplica): 'live' | 'leaving' | 'lapsed' {
  if (ageMs > leaseMs) return 'lapsed';
  return leaving ? 'leaving' : 'live';
}
