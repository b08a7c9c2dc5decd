import type { MonthReading, MonthTotals } from '../../../ports/limits/month-totals.ts';
import type { Runner } from '../connection/pool.ts';

/** Requests of each month in PostgreSQL: one short statement a second. */
export function postgresMonthTotals(db: Runner): MonthTotals {
  return {
    async add(replica, batch, additions, sinceMs) {
      const given = additions.map((addition) => ({ ...addition }));
      const [row] = await db.run(
        (sql) => sql<[{ readonly reading: MonthReading }]>`
          select limit_month_add(${replica}, ${batch}, ${sql.json(given)}, ${new Date(sinceMs)}) as reading`,
      );
      return row.reading;
    },
  };
}
