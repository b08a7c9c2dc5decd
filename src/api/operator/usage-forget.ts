import { Type } from 'typebox';
import { found } from '../../http/not-found.ts';
import { closed, noQuery } from '../rest/typebox.ts';
import type { AdminDeps } from './deps.ts';
import type { OperatorApp } from './operator-token.ts';

const body = closed({ replica: Type.String({ minLength: 1, maxLength: 255 }) });
const response = closed({ replica: Type.String(), forgotten: Type.Integer() });

/**
 * `POST /usage/forget`: stops reports from waiting for silent replicas. The body contains either the id of one replica
 * or a host. A host stands for all silent replicas on that host. If one of these replicas sends counts later, the
 * counts for closed hours are exported as corrections. Returns a 404 if no silent replica has this id or host.
 */
export function usageForgetRoute(app: OperatorApp, { usage }: Pick<AdminDeps, 'usage'>): void {
  app.post(
    '/usage/forget',
    { schema: { body, querystring: noQuery, response: { 200: response } }, config: { role: 'admin' } },
    async ({ body: { replica } }) => {
      const forgotten = await usage.forget(replica);
      found(forgotten > 0 ? forgotten : null, 'silent replica');
      return { replica, forgotten };
    },
  );
}
