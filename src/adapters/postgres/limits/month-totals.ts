import { nearPage, type MonthReading, type MonthTotals } from '../../../ports/limits/month-totals.ts';
import type { Runner } from '../connection/pool.ts';

/** Totals of each month's requests in PostgreSQL: one short statement a second. */
export function postgresMonthTotals(db: Runner): MonthTotals {
  return {
    async add(replica, batch, additions, after) {
      const given = additions.map((addition) => ({ ...addition }));
      const [row] = await db.run(
        (sql) => sql<[{ readonly reading: MonthReading }]>`
          select limit_month_exchange(
            ${replica}, ${batch}, ${sql.json(given)}, ${sql.json({ ...after })}, ${nearPage}
          ) as reading`,
      );
      return row.reading;
    },
  };
}
