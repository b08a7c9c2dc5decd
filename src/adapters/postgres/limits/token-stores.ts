import type { TokenAnswer, TokenStore } from '../../../ports/limits/token-store.ts';
import type { Runner } from '../connection/pool.ts';
import { QuotaEvents } from './quota-events.ts';

/** Buckets in PostgreSQL. Each call runs one short statement for all of its questions. */
export function postgresBuckets(db: Runner): TokenStore {
  return {
    async ask(questions) {
      const asked = questions.map(({ limit, capacity, perSecond, back, needed, ahead }) => ({
        ...{ limit, capacity, perSecond, back, needed, ahead },
      }));
      const [row] = await db.run(
        (sql) => sql<[{ readonly answers: readonly TokenAnswer[] }]>`
          select bucket_ask(${sql.json(asked)}) as answers`,
      );
      return row.answers;
    },
  };
}

/**
 * Quotas in PostgreSQL. Each call runs one statement for all of its questions.
 *
 * @param background runs the statements that write quota events, which no request waits for
 * @param replica name under which this process asks for quota units; no process may have used it before
 */
export function postgresQuotas(db: Runner, background: Runner, replica: string): TokenStore {
  const events = new QuotaEvents(background);
  return {
    async ask(questions) {
      const asked = questions.map(({ limit, period, capacity, needed, ahead, series, spent, hand }) => ({
        ...{ limit, period, capacity, needed, ahead, series, spent, hand },
      }));
      const [row] = await db.run(
        (sql) => sql<[{ readonly answers: readonly TokenAnswer[] }]>`
          select quota_ask(${replica}, ${sql.json(asked)}) as answers`,
      );
      events.note(questions, row.answers);
      return row.answers;
    },
  };
}
