import type { CoherenceLog, LogEntry, LogReading, ReplicaReading } from '../../../ports/coherence-log.ts';
import type { FactKey, Seq } from '../../../ports/facts.ts';
import type { Hints } from './hints.ts';
import type { Runner } from '../connection/pool.ts';

/** A reading as the statement returns it: entries in one JSON value, so that they and the position are of one snapshot. */
interface ReadingRow extends Omit<LogReading, 'entries'> {
  readonly entries: readonly (readonly [seq: Seq, key: FactKey, withdrawn: boolean])[];
}

/**
 * The coherence tables in PostgreSQL: a list of statements, one a method.
 *
 * @param db a connection of its own: a mutation that waits for a lock cannot keep the replica from renewing its lease
 * @param background for what may take longer than a lease can wait
 * @param hints also called by mutations of this process, so that their hints need no LISTEN
 */
export function coherenceLog(db: Runner, background: Runner, hints: Pick<Hints, 'add'>): CoherenceLog {
  return {
    async register({ id, nonce, leaseMs, note }) {
      const { version = null, host = null, leaving = false } = note ?? {};
      await db.run(
        (sql) => sql`select replica_register(${id}, ${nonce}, ${leaseMs}, ${version}, ${host}, ${leaving})`,
      );
    },

    async readAfter(after) {
      const [reading] = await db.run(
        (sql) => sql<[ReadingRow]>`
          select s.v as seq, s.floor, coherence_incarnation() as incarnation, coalesce((
            select json_agg(json_build_array(l.seq, l.key, l.withdrawn) order by l.seq)
            from coherence_log l where l.seq > ${after}
          ), '[]') as entries
          from coherence_seq s`,
      );
      const entries = reading.entries.map(([seq, key, withdrawn]): LogEntry => ({ seq, key, withdrawn }));
      return { ...reading, entries };
    },

    async ack(id, seq, streamsClosed) {
      await db.run((sql) => sql`select replica_ack(${id}, ${seq}, ${streamsClosed})`);
    },

    async replicas() {
      const [reading] = await db.run(
        (sql) => sql<[ReplicaReading]>`
          select s.v as seq, i.incarnation, i.incarnation = s.adopted as adopted, coalesce((
            select json_agg(json_build_object(
              'id', r.id, 'nonce', r.nonce, 'acked', r.acked, 'leaseMs', r.lease_ms, 'streamsClosed', r.streams_closed,
              'ageMs', greatest(0, round(extract(epoch from clock_timestamp() - r.renewed_at) * 1000))
            )) from replica r
          ), '[]') as rows
          from coherence_seq s, coherence_incarnation() i (incarnation)`,
      );
      return reading;
    },

    async adopt(incarnation) {
      await db.run(
        (sql) => sql`
          update coherence_seq set adopted = ${incarnation}
          where adopted <> ${incarnation} and coherence_incarnation() = ${incarnation}`,
      );
    },

    async removeReplica(id, nonce) {
      await db.run((sql) => sql`delete from replica where id = ${id} and nonce = ${nonce}`);
    },

    async prune({ ageMs }) {
      await background.run(
        (sql) => sql`
          with gone as (
            delete from coherence_log where at < now() - ${ageMs} * interval '1 millisecond' returning seq
          )
          update coherence_seq set floor = greatest(floor, (select max(seq) + 1 from gone))
          where exists (select from gone)`,
      );
    },

    onHint(listener) {
      hints.add(listener);
    },
  };
}
