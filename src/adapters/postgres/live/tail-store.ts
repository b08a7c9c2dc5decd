import { tailLifeMs, type TailReading, type TailStore } from '../../../ports/tails.ts';
import type { Runner } from '../connection/pool.ts';

/** Maximum number of lines that are stored for one tail. */
const mostLines = 1_000;
/** Number of attempts to find a free place, because two operators may try the same one at the same time. */
const attempts = 3;

/** Tails in PostgreSQL. */
export function tailStore(db: Runner): TailStore {
  return {
    async open({ id, filter }, most) {
      await db.run((sql) => sql`delete from tail where expires_at <= now()`);
      for (let attempt = 0; attempt < attempts; attempt++) {
        const opened = await db.run(
          (sql) => sql`
            insert into tail (id, slot, filter, expires_at)
            select ${id}, s.slot, ${sql.json({ ...filter })}, now() + ${tailLifeMs} * interval '1 ms'
            from generate_series(1, ${most}::int) s (slot)
            where not exists (select from tail t where t.slot = s.slot)
            order by random() limit 1
            on conflict (slot) do nothing returning id`,
        );
        if (opened.length > 0) return true;
      }
      return false;
    },

    add: (collected) => add(db, collected),
    read: (id, taken) => read(db, id, taken),

    async close(id) {
      await db.run((sql) => sql`delete from tail where id = ${id}`);
    },
  };
}

/** Adds lines. The update of the tail's row sees the number of lines that other additions have committed. */
async function add(
  db: Runner,
  { tail, replica, lines, dropped, open }: Parameters<TailStore['add']>[0],
): Promise<number | null> {
  const wanted = lines.length;
  const [room] = await db.run(
    (sql) => sql<{ readonly granted: number }[]>`
      with room as (
        update tail set
          granted = least(${wanted}::int, ${mostLines} - held),
          held = held + least(${wanted}::int, ${mostLines} - held)
        where id = ${tail} and expires_at > now() returning granted
      ), added as (
        insert into tail_line (tail, line)
        select ${tail}, l.line
        from room, jsonb_array_elements_text(${sql.json([...lines])}) with ordinality l (line, n)
        where l.n <= room.granted
      ), told as (
        insert into tail_replica (tail, replica, dropped, requests, streams)
        select ${tail}, ${replica}, ${dropped + wanted}::bigint - room.granted, ${open.requests}, ${open.streams} from room
        on conflict (tail, replica) do update
        set dropped = excluded.dropped, requests = excluded.requests, streams = excluded.streams
      )
      select granted from room`,
  );
  return room?.granted ?? null;
}

/** Reads a tail. A replica counts among those that collect as long as it reports its figures. */
async function read(db: Runner, id: string, taken: number): Promise<TailReading | null> {
  const [{ open, ...reading }] = await db.run(
    (sql) => sql<[TailReading & { readonly open: boolean }]>`
      with taken as (
        delete from tail_line where tail = ${id} returning line
      ), renewed as (
        update tail set held = greatest(0, held - ${taken}::int), expires_at = now() + ${tailLifeMs} * interval '1 ms'
        where id = ${id} and expires_at > now() returning id
      )
      select exists (select from renewed) as open, coalesce((select json_agg(line) from taken), '[]') as lines,
        coalesce((
          select json_agg(json_build_object('id', r.replica, 'dropped', r.dropped,
            'open', json_build_object('requests', r.requests, 'streams', r.streams)))
          from tail_replica r join replica_figures f on f.replica = r.replica
          where r.tail = ${id} and f.reported_at > now() - ${tailLifeMs} * interval '1 ms'
        ), '[]') as replicas`,
  );
  return open ? reading : null;
}
