import { Type, type Static } from 'typebox';
import { closed, noQuery, nullableText, type TypedApp } from '../rest/typebox.ts';
import type { Roster, RosterEntry, RosterReading } from '../../ports/replica-list.ts';

export interface ReplicasDeps {
  readonly roster: Roster;
  /** By what name this replica is registered; `null` while it is not. */
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
  applied: Type.Integer(),
  lag: Type.Integer(),
});

const rosterBody = closed({
  position: Type.Integer(),
  incarnation: Type.String(),
  complete: Type.Boolean(),
  data: Type.Array(replicaBody),
});

/** `GET /replicas`: who decides, by which position, and whose lease has run out. */
export function replicasRoute(app: TypedApp, { roster, ownReplicaId }: ReplicasDeps): void {
  app.get('/replicas', { schema: { querystring: noQuery, response: { 200: rosterBody } } }, async () =>
    toBody(await roster.read(), ownReplicaId()),
  );
}

function toBody({ seq, incarnation, complete, entries }: RosterReading, own: string | null) {
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
      applied: entry.applied,
      // Who has taken in what came after the snapshot is not behind.
      lag: Math.max(0, seq - entry.applied),
    })),
  } satisfies Static<typeof rosterBody>;
}

/** A replica whose lease ran out decides nothing, whatever it was about to do. */
function stateOf({ ageMs, leaseMs, leaving }: RosterEntry): 'live' | 'leaving' | 'lapsed' {
  if (ageMs > leaseMs) return 'lapsed';
  return leaving ? 'leaving' : 'live';
}
