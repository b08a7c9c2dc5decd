import { ProblemError } from '../../../domain/problem.ts';
import type { PortalSession } from '../../../domain/portal.ts';
import type { PortalSessionStore } from '../../../ports/portal-sessions.ts';
import type { Runner } from '../connection/pool.ts';
import type { Sql } from '../connection/sql.ts';
import type { Changes } from '../tenants/changes.ts';

/** A row of a query for sessions, in which times are ISO 8601. */
interface SessionRow {
  readonly session: Omit<PortalSession, 'expiresAt'> & { readonly expiresAt: string };
}

/** Sessions of the portal in PostgreSQL. @param visitors runs statements of visitors, whose networks are the tenants */
export function portalStore(db: Runner, visitors: Runner, changes: Changes): PortalSessionStore {
  return {
    create: (...asked) => createSession(changes, ...asked),

    async keys() {
      const rows = await db.run(
        (sql) => sql<{ readonly key: Uint8Array }[]>`
          select key from session_key order by made_at > now() - interval '1 minute', made_at desc`,
      );
      return rows.map(({ key }) => key);
    },

    async redeem(link, token, sessionMs, network) {
      const rows = await visitors.run(
        (sql) => sql<SessionRow[]>`
          with redeemed as (
            update portal_session s
              set digest = ${token}, redeemed = true, expires_at = clock_timestamp() + ${sessionMs} * interval '1 ms'
              where s.digest = ${link} and not s.redeemed and portal_session_in_force(s)
              returning s.*
          )
          ${sessions(sql, sql`redeemed`)}`,
        network,
      );
      return toSession(rows);
    },

    async find(token, network) {
      const rows = await visitors.run(
        (sql) => sql<SessionRow[]>`
          ${sessions(sql, sql`portal_session`)} where s.digest = ${token} and s.redeemed and portal_session_in_force(s)`,
        network,
      );
      return toSession(rows);
    },

    async end(id, parent) {
      const rows = await db.run(
        (sql) => sql`delete from portal_session where id = ${id} and account_id = ${parent} returning id`,
        parent,
      );
      return rows.length > 0;
    },
  };
}

/** Creates a session in one statement. */
async function createSession(
  changes: Changes,
  ...[{ digest, ...session }, linkMs, most, caller]: Parameters<PortalSessionStore['create']>
): ReturnType<PortalSessionStore['create']> {
  const row = {
    id: session.id,
    account_id: caller.accountId,
    key_id: caller.keyId,
    sub_account_id: session.subAccountId,
    permissions: [...session.permissions],
    scopes: [...session.scopes],
    user_label: session.user,
    return_url: session.returnUrl,
    digest: `\\x${Buffer.from(digest).toString('hex')}`,
  };
  const made = await changes.run<'none' | 'deactivated' | 'limit', { readonly expires_at: Date }>(
    null,
    (sql, request) => sql`portal_session_create(${request}, ${sql.json(row)}, ${linkMs}, ${most})`,
    caller,
  );
  switch (made.outcome) {
    case 'none':
      return null;
    case 'deactivated':
      throw new ProblemError(subAccountDeactivated);
    case 'limit':
      return { limit: most };
    case 'done':
    case 'again':
      return made.expires_at;
  }
}

/** Reads sessions with the names of their accounts. @param from the sessions, as a table */
function sessions(sql: Sql, from: ReturnType<Sql>) {
  return sql`
    select json_build_object(
      'id', s.id, 'account', json_build_object('id', a.id, 'name', a.name),
      'subAccount', case when b.id is not null then
        json_build_object('id', b.id, 'name', b.name, 'externalId', b.external_id)
      end,
      'keyId', s.key_id, 'permissions', s.permissions, 'scopes', s.scopes, 'user', s.user_label,
      'returnUrl', s.return_url, 'expiresAt', s.expires_at
    ) as session
    from ${from} s join account a on a.id = s.account_id left join account b on b.id = s.sub_account_id`;
}

function toSession([row]: readonly SessionRow[]): PortalSession | null {
  return row ? { ...row.session, expiresAt: new Date(row.session.expiresAt) } : null;
}

const subAccountDeactivated = {
  code: 'account_deactivated',
  detail: 'The sub-account is deactivated. Reactivate it first.',
} as const;
