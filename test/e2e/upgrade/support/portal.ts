/** The portal and what operators watch, while replicas of an earlier version run beside new ones. */
import type { Test } from 'tap';
import { httpClient } from '../../../support/http-client.ts';
import type { GatewayProcess } from '../../../support/process.ts';
import { openPortal } from '../../../support/portal.ts';
import { makeParents } from '../../../support/apis.ts';
import type { Apis } from './newer-changes.ts';

/**
 * A session of the portal on a new replica changes a key, which the earlier version lists as an event, and ends at the
 * 2xx with which the earlier version revokes the key that made it.
 */
export async function endsFromThere(
  t: Test,
  { old, there }: { readonly old: Apis; readonly there: Apis },
  portalOrigin: string,
): Promise<void> {
  const parent = await makeParents(there.call, there.operator)();
  const sub = await parent.create();
  const { call } = await openPortal(t, { portalOrigin }, parent, { sub_account_id: sub.id, user: 'ada' });
  const minted = await call('POST', `/sub-accounts/${sub.id}/api-keys`, { body: { name: 'beside' } });
  t.equal(minted.status, 201, 'the portal works beside an earlier version');
  const { body } = await old.call('GET', '/v1/sub-accounts/events', { key: parent.key });
  t.match(body, { data: [{ type: 'api_key.created', actor: { kind: 'portal', key_id: parent.keyId } }] });
  const { status } = await old.operator('POST', `/accounts/${parent.id}/api-keys/${parent.keyId}/revoke`);
  t.equal(status, 200);
  t.equal((await call('GET', '/session')).status, 401, 'the session ended with the key, revoked there');
}

/** The console's page, and the figures and requests that it shows, beside an earlier version. */
export async function isWatched(t: Test, { operator }: Apis, { internalUrl }: GatewayProcess): Promise<void> {
  t.equal((await httpClient(t, internalUrl)('GET', '/console/')).status, 200);
  const { body } = await operator('GET', '/replicas');
  const replicas = body['data'] as { figures: object | null }[];
  t.ok(
    replicas.some(({ figures }) => figures === null) && replicas.some(({ figures }) => figures !== null),
    'new replicas tell their figures, earlier ones do not',
  );
}
