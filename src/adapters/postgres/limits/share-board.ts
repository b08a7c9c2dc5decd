import type { BoardReading, ShareBoard } from '../../../ports/limits/share-board.ts';
import type { Runner } from '../connection/pool.ts';

/** Reports of replicas in PostgreSQL: one short statement for each exchange. */
export function postgresShareBoard(db: Runner): ShareBoard {
  return {
    async exchange(replica, reports) {
      const [row] = await db.run(
        (sql) => sql<[{ readonly reading: BoardReading }]>`
          select limit_exchange(${replica}, ${sql.json(reports.map((report) => ({ ...report })))}) as reading`,
      );
      return row.reading;
    },
  };
}
