import type { OperatorSessionStore } from '../../../ports/operator-sessions.ts';
import type { Runner } from '../connection/pool.ts';

/** Sessions of operators in PostgreSQL. */
export function sessionStore(db: Runner): OperatorSessionStore {
  return {
    async begin({ digest, proof }, lifetimeMs) {
      const [{ expires_at: expiresAt }] = await db.run(
        (sql) => sql<[{ readonly expires_at: Date }]>`
          with expired as (delete from operator_session where expires_at <= now())
          insert into operator_session (digest, proof, expires_at)
          values (${digest}, ${proof}, now() + ${lifetimeMs} * interval '1 ms')
          returning expires_at`,
      );
      return expiresAt;
    },

    async find(digest) {
      const [row] = await db.run(
        (sql) => sql<{ readonly proof: Uint8Array; readonly expires_at: Date }[]>`
          select proof, expires_at from operator_session where digest = ${digest} and expires_at > now()`,
      );
      return row ? { proof: row.proof, expiresAt: row.expires_at } : null;
    },

    async end(digest) {
      await db.run((sql) => sql`delete from operator_session where digest = ${digest}`);
    },
  };
}
