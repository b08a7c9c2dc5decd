import { Type } from 'typebox';
import { operatorRoles } from '../../domain/operator-role.ts';
import { operatorOf, sessionOf, type OperatorApp } from './operator-token.ts';
import { closed, noQuery, nullableText, timestamp } from '../rest/typebox.ts';

export interface WhoamiDeps {
  /** Version of this build. */
  readonly version: string;
  /** Returns the id under which this replica is registered; `null` if it is not registered. */
  readonly ownReplicaId: () => string | null;
}

const body = closed({
  operator: Type.String(),
  role: Type.Enum([...operatorRoles]),
  version: Type.String(),
  replica_id: nullableText(),
  session: Type.Union([closed({ csrf_token: Type.String(), expires_at: timestamp }), Type.Null()]),
});

/**
 * `GET /whoami`: shows whose token or session was sent, the role of that operator, and which replica responded. With a
 * token it works without the database.
 */
export function whoamiRoute(app: OperatorApp, { version, ownReplicaId }: WhoamiDeps): void {
  app.get(
    '/whoami',
    { schema: { querystring: noQuery, response: { 200: body } }, config: { role: 'viewer' } },
    async (request) => {
      const { operator, role } = operatorOf(request);
      const session = sessionOf(request);
      return {
        operator,
        role,
        version,
        replica_id: ownReplicaId(),
        session: session && { csrf_token: session.csrfToken, expires_at: session.expiresAt.toISOString() },
      };
    },
  );
}
