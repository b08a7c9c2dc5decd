import type { OldSnapshots, SnapshotHolder, SnapshotReading } from '../../../ports/old-snapshots.ts';
import type { Runner } from '../connection/pool.ts';

/**
 * A {@link SnapshotHolder} as the statement returns it. Instead of `transaction`, the row has `behind`: the id of the
 * next transaction minus `transaction`.
 */
type HolderRow = Omit<SnapshotHolder, 'transaction'> & { readonly behind: number };

/**
 * Finds the holder of the oldest snapshot. Any role can see the snapshot, user and application of other roles'
 * sessions, but not when their transactions began. Sessions that are running a vacuum are left out, because their
 * snapshots do not keep old row versions alive.
 *
 * @param db runs statements on a connection that is already open
 */
export function oldSnapshots(db: Runner): OldSnapshots {
  return {
    async read(replica): Promise<SnapshotReading> {
      const [{ next, looked, holder }] = await db.run(
        (sql) => sql<
          [{ readonly next: number; readonly looked: boolean; readonly holder: HolderRow | null }]
        >`
          select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next, one.looks as looked, (
            select json_build_object('kind', h.kind, 'name', h.name, 'user', h.role, 'application', h.application,
              'ageMs', round(extract(epoch from clock_timestamp() - h.since) * 1000), 'behind', h.behind)
            from (
              select 'session' as kind, a.pid::text as name, a.usename::text as role, nullif(a.application_name, '') as application,
                a.xact_start as since, greatest(age(a.backend_xid), age(a.backend_xmin)) as behind
              from pg_stat_activity a
              where (a.datid is null or a.datname = current_database()) and a.pid <> pg_backend_pid()
                and not exists (select from pg_stat_progress_vacuum v where v.pid = a.pid)
              union all
              select 'replication slot', s.slot_name::text, null, null, null, age(s.xmin) from pg_replication_slots s
              union all
              select 'prepared transaction', p.gid, p.owner::text, null, p.prepared, age(p.transaction)
              from pg_prepared_xacts p where p.database = current_database()
            ) h
            where one.looks and h.behind is not null order by h.behind desc limit 1
          ) as holder
          from (select coalesce(min(r.id) = ${replica}, false) as looks from replica r) one`,
      );
      if (holder === null) return { nextTransaction: next, looked, oldest: null };
      const { behind, ...oldest } = holder;
      return { nextTransaction: next, looked, oldest: { ...oldest, transaction: next - behind } };
    },
  };
}
