import { Type, type Static } from 'typebox';
import type { ActingHeader } from '../../domain/acting-decision.ts';
import type { Event, EventType } from '../../domain/event.ts';
import type { AccountId, KeyId } from '../../domain/ids.ts';
import type { ProblemCode } from '../../domain/problem.ts';
import type { EventFilter, EventStore } from '../../ports/events.ts';
import type { HeldKey } from '../../ports/api-keys.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import { closed, nullableText, timestamp } from '../rest/typebox.ts';

/** Change after which a key or account is rejected, and who made it. */
export const endedByBody = closed({
  event_id: Type.String(),
  type: Type.String(),
  at: timestamp,
  by: Type.Enum(['api_key', 'portal', 'operator', 'system']),
  name: nullableText(),
});

/** Dependencies of {@link endedBy}. */
export interface EndedByDeps {
  readonly tenants: Pick<TenantStore, 'findKeys' | 'listSubAccounts'>;
  readonly events: Pick<EventStore, 'list'>;
}

/** Types of the events that explain a problem. */
const types: Partial<Record<ProblemCode, readonly EventType[]>> = {
  account_suspended: ['account.suspended'],
  account_deactivated: ['sub_account.deactivated'],
  api_key_revoked: ['api_key.revoked', 'api_key.rotated'],
  acting_tenant_deactivated: ['sub_account.deactivated'],
  acting_tenant_unknown: ['sub_account.deleted'],
};

/**
 * Returns the change that ended the right of a key, or the life of the sub-account that it wants to act as, if `code`
 * is about such a change and its event is still kept.
 */
export async function endedBy(
  code: ProblemCode,
  id: KeyId,
  acting: ActingHeader,
  { tenants, events }: EndedByDeps,
): Promise<Static<typeof endedByBody> | null> {
  const wanted = types[code];
  if (wanted === undefined) return null;
  const held = (await tenants.findKeys({ id }, { limit: 1 })).rows[0];
  if (held === undefined) return null;
  const filter = code.startsWith('acting_') ? await actedAs(acting, held, tenants) : filterOf(code, held);
  if (filter === null) return null;
  const lists = wanted.map((type) => events.list({ type, ...filter }, { limit: 100 }));
  const found = (await Promise.all(lists)).flatMap(({ rows }) => rows);
  const event = found.find((each) => code !== 'api_key_revoked' || isAbout(each, id));
  if (event === undefined) return null;
  const { kind: by, name } = event.actor;
  return { event_id: event.id, type: event.type, at: event.createdAt.toISOString(), by, name };
}

/** Events about the sub-account in the acting header; `null` if it names none. A deleted one is found by its id only. */
async function actedAs(
  acting: ActingHeader,
  { account, parent }: HeldKey,
  tenants: EndedByDeps['tenants'],
): Promise<EventFilter | null> {
  const { id } = parent ?? account;
  let subAccount: AccountId | undefined;
  if (acting.form === 'uuid') subAccount = acting.id;
  if (acting.form === 'external-id') {
    const { rows } = await tenants.listSubAccounts(id, { externalId: acting.externalId }, { limit: 1 });
    subAccount = rows[0]?.id;
  }
  return subAccount === undefined ? null : { account: id, subAccount };
}

function filterOf(code: ProblemCode, { key, account, parent }: HeldKey): EventFilter {
  const ofParent = { account: parent?.id ?? account.id };
  if (code === 'account_suspended' || parent === null)
    return { ...ofParent, ...windowOf(code, key.revokedAt) };
  return { ...ofParent, subAccount: account.id, ...windowOf(code, key.revokedAt) };
}

/** An event's time is that of its transaction's end, so it may be some seconds after the revoke. */
function windowOf(code: ProblemCode, revokedAt: Date | null): EventFilter {
  if (code !== 'api_key_revoked' || revokedAt === null) return {};
  return { fromMs: revokedAt.getTime() - 1_000, toMs: revokedAt.getTime() + 60_000 };
}

function isAbout({ subject }: Event, id: KeyId): boolean {
  return subject.kind === 'api_key' && (subject.before?.id ?? subject.after.id) === id;
}
