import type {
  CoherenceLog,
  LogEntry,
  LogReading,
  Renewed,
  ReplicaReading,
} from '../../../ports/coherence-log.ts';
import type { FactKey, Seq } from '../../../ports/facts.ts';
import type { Hints } from './hints.ts';
import type { Runner } from '../connection/pool.ts';

/**
 * Row that the statement in `readAfter` returns. The entries are one JSON value, so that they and the position come
 * from the same snapshot.
 */
interface ReadingRow extends Omit<LogReading, 'entries' | 'through'> {
  /** Position of the last entry returned if more entries may follow; otherwise `null`. */
  readonly until: Seq | null;
  readonly entries: readonly (readonly [seq: Seq, key: FactKey, revoked: boolean])[];
}

/**
 * Level of this version: the rules that its replicas can enforce. A change that needs a higher level than a registered
 * replica has is rejected (`fleet_require.sql`, `fleet_check.sql`).
 */
const level = 1;

type Replicas = Pick<CoherenceLog, 'register' | 'ack' | 'replicas' | 'noteComplete' | 'removeReplica'>;
type Entries = Pick<CoherenceLog, 'readAfter' | 'prune'>;

/**
 * The coherence log in PostgreSQL. Each method runs one statement, except that `readAfter(null)` first reads where to
 * start.
 *
 * @param db runs statements on a connection of its own: a change that waits for a lock must not keep the replica from
 * renewing its lease
 * @param background runs `prune`, which may take too long for the connection that renews the lease
 * @param hints holds the listeners. Changes made by this process nudge `hints` too, so listeners learn of these changes
 * even without LISTEN
 */
export function coherenceLog(db: Runner, background: Runner, hints: Pick<Hints, 'add'>): CoherenceLog {
  return {
    ...replicas(db),
    ...entries(db, background),

    onHint(listener) {
      hints.add(listener);
    },
  };
}

/** Maintains the replicas' rows and leases. */
function replicas(db: Runner): Replicas {
  return {
    async register({ id, nonce, leaseMs, streamsMs, note, clockAheadMs = null }) {
      const { version = null, host = null, leaving = false } = note ?? {};
      // `acked` is the value from before the renewal: the statement calls `replica_renew`, but does not see what that
      // function writes.
      const [{ acked, nowMs }] = await db.run(
        (sql) => sql<[Renewed]>`
          select coalesce((select r.acked from replica r where r.id = ${id}), 0) as acked,
            extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs",
            replica_renew(
              ${id}, ${nonce}, ${leaseMs}, ${streamsMs}, ${version}, ${host}, ${leaving}, ${clockAheadMs}, ${level}
            )`,
      );
      return { acked, nowMs };
    },

    async ack(id, seq, streamsClosed) {
      await db.run((sql) => sql`select replica_ack(${id}, ${seq}, ${streamsClosed})`);
    },

    async replicas() {
      const [reading] = await db.run(
        (sql) => sql<[ReplicaReading]>`
          select s.seq, i.incarnation, i.incarnation = s.adopted as complete, coalesce((
            select json_agg(json_build_object(
              'id', r.id, 'nonce', r.nonce, 'acked', r.acked, 'leaseMs', r.lease_ms, 'streamsMs', r.streams_ms,
              'streamsClosed', r.streams_closed,
              'ageMs', greatest(0, round(extract(epoch from clock_timestamp() - r.renewed_at) * 1000))
            )) from replica r
          ), '[]') as rows
          from coherence_now s, coherence_history() i (incarnation)`,
      );
      return reading;
    },

    async noteComplete(incarnation) {
      await db.run(
        (sql) => sql`
          update coherence_seq set adopted = ${incarnation}
          where adopted <> ${incarnation} and marker::text = ${incarnation} and named_in = coherence_place()`,
      );
    },

    async removeReplica(id, nonce) {
      await db.run((sql) => sql`delete from replica where id = ${id} and nonce = ${nonce}`);
    },
  };
}

/** Reads and prunes the log's entries. */
function entries(db: Runner, background: Runner): Entries {
  return {
    async readAfter(after, most) {
      if (after === null) {
        const [{ seq, floor }] = await db.run(
          (sql) => sql<[{ readonly seq: Seq; readonly floor: Seq }]>`select seq, floor from coherence_now`,
        );
        const start = Math.max(floor - 1, seq - most);
        const reading = await this.readAfter(start, most);
        // Within a history, the newest position never decreases. If it is lower now, the database has been replaced,
        // for example by a restore, so reading starts over.
        if (reading.seq < seq) return this.readAfter(null, most);
        return { ...reading, floor: Math.max(reading.floor, start + 1) };
      }
      // PostgreSQL plans this statement for the actual value of `after`. A generic plan would be slow: it assumes that
      // a third of the log comes after any position.
      const [{ until, entries, ...reading }] = await db.run(
        (sql) => sql<[ReadingRow]>`
          select s.seq, s.floor, coherence_history() as incarnation, u.until, coalesce((
            select json_agg(json_build_array(l.seq, l.key, l.withdrawn) order by l.seq)
            from coherence_log l where l.seq > ${after} and l.seq <= coalesce(u.until, s.seq)
          ), '[]') as entries
          from coherence_now s left join lateral (
            select l.seq as until from coherence_log l where l.seq > ${after} order by l.seq offset ${most - 1}::int limit 1
          ) u on true`,
      );
      return {
        ...reading,
        through: until ?? reading.seq,
        entries: entries.map(([seq, key, revoked]): LogEntry => ({ seq, key, revoked })),
      };
    },

    async prune({ incarnation, before, most }) {
      const [{ more }] = await background.run(
        (sql) =>
          sql<
            [{ readonly more: boolean }]
          >`select coherence_prune(${incarnation}, ${before}, ${most}) as more`,
      );
      return more;
    },
  };
}
