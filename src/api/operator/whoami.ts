import { Type } from 'typebox';
import { operatorOf } from './operator-token.ts';
import { closed, noQuery, nullableText, type TypedApp } from '../rest/typebox.ts';

export interface WhoamiDeps {
  /** Version of this build. */
  readonly version: string;
  /** Returns the id under which this replica is registered; `null` if it is not registered. */
  readonly ownReplicaId: () => string | null;
}

const body = closed({ operator: Type.String(), version: Type.String(), replica_id: nullableText() });

/** `GET /whoami`: shows whose token was sent and which replica responded. It works without the database. */
export function whoamiRoute(app: TypedApp, { version, ownReplicaId }: WhoamiDeps): void {
  app.get('/whoami', { schema: { querystring: noQuery, response: { 200: body } } }, async (request) => ({
    operator: operatorOf(request).operator,
    version,
    replica_id: ownReplicaId(),
  }));
}
