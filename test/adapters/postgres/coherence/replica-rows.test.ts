// class: app
/** The rows by which replicas know of each other, on a real PostgreSQL. */
import t from 'tap';
import { decidingReplica } from '../../../support/deciding-replica.ts';
import { eventually } from '../../../support/eventually.ts';
import { createParent, createSub, freshStore } from '../../../support/store.ts';

t.test(
  'a row that shows less than its replica has confirmed is put right without another change',
  async (t) => {
    const { store, sql } = await freshStore(t);
    const { seq } = await createSub(store.tenants, (await createParent(store.tenants)).id);
    decidingReplica(t, store, 2_000);
    const shows = async (position: number | null): Promise<boolean> => {
      const rows = await sql<{ readonly acked: number }[]>`select acked from replica`;
      return rows.length === 1 && rows[0]?.acked === position;
    };
    await eventually(() => shows(seq));

    // What a crash of PostgreSQL leaves: the row is on disk, the confirmation was not.
    await sql`update replica set acked = 0`;
    await eventually(() => shows(seq));
    t.pass('it shows what was confirmed');
  },
);
