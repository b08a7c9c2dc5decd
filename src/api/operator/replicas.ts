import { Type, type Static } from 'typebox';
import { closed, noQuery, nullableText, type TypedApp } from '../rest/typebox.ts';
import type { ListedReplica, ReplicaList, ReplicaListReading } from '../../ports/replica-list.ts';

export interface ReplicasDeps {
  readonly replicaList: ReplicaList;
  /** The id under which this replica is registered; `null` while it is not. */
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

const replicaListBody = closed({
  position: Type.Integer(),
  incarnation: Type.String(),
  complete: Type.Boolean(),
  data: Type.Array(replicaBody),
});

/** `GET /replicas`: every replica with the position it decides by and the state of its lease. */
export function replicasRoute(app: TypedApp, { replicaList, ownReplicaId }: ReplicasDeps): void {
  app.get('/replicas', { schema: { querystring: noQuery, response: { 200: replicaListBody } } }, async () =>
    toBody(await replicaList.read(), ownReplicaId()),
  );
}

function toBody({ seq, incarnation, complete, entries }: ReplicaListReading, own: string | null) {
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
      // A replica may have confirmed an entry that is later than the snapshot. Its lag is 0 then.
      lag: Math.max(0, seq - entry.applied),
    })),
  } satisfies Static<typeof replicaListBody>;
}

/** State of a replica. Without a lease it decides nothing, so `lapsed` takes precedence over `leaving`. */
function stateOf({ ageMs, leaseMs, leaving }: ListedReplica): 'live' | 'leaving' | 'lapsed' {
  if (ageMs > leaseMs) return 'lapsed';
  return leaving ? 'leaving' : 'live';
}
