import { isDeepStrictEqual } from 'node:util';
import { Type, type Static, type TSchema } from 'typebox';
import {
  eventTypes,
  operatorEventTypes,
  type Event,
  type EventSubject,
  type EventType,
  type QuotaUse,
} from '../../domain/event.ts';
import { apiKeyToBody } from '../api-keys/resource.ts';
import { accountToBody } from '../operator/account-body.ts';
import { planToBody } from '../operator/plan-body.ts';
import { closed, nullableText, timestamp } from '../rest/typebox.ts';
import { subAccountToBody } from '../sub-accounts/resource.ts';

type Body = Readonly<Record<string, unknown>>;

/**
 * Schema of a resource as it was when the event happened. The schema names no members, because resources in older
 * events may lack members that were added later. `eventToBody` and `eventToParentBody` choose which members to show.
 */
const resource = Type.Unsafe<Body>({ type: 'object', additionalProperties: true });

/** Members of an event. `accountId` is the schema of its parent's id. */
function eventMembers<Name extends EventType, Id extends TSchema>(types: readonly Name[], accountId: Id) {
  return {
    id: Type.String(),
    type: Type.Enum([...types]),
    created_at: timestamp,
    account_id: accountId,
    sub_account_id: nullableText(),
    actor: closed({
      kind: Type.Enum(['api_key', 'portal', 'operator', 'system']),
      key_id: nullableText(),
      name: nullableText(),
      session_id: Type.Optional(Type.String()),
      user: Type.Optional(nullableText()),
    }),
    request_id: nullableText(),
    address: nullableText(),
    data: closed({
      object: resource,
      previous: Type.Unsafe<Body | null>({ type: ['object', 'null'], additionalProperties: true }),
    }),
  };
}

/** Schema of an event in a response body for parents. */
export const eventBody = closed(eventMembers(eventTypes, Type.String()));

/** Schema of an event in a response body for operators. */
export const operatorEventBody = closed(eventMembers(operatorEventTypes, nullableText()));

/** Returns the response body for an event, as operators see it. */
export function eventToBody(event: Event): Static<typeof operatorEventBody> {
  const { actor, subject } = event;
  const bodyOf = bodiesOf(event);
  const object = bodyOf(subject.after);
  return {
    id: event.id,
    type: event.type,
    created_at: event.createdAt.toISOString(),
    account_id: event.accountId,
    sub_account_id: event.subAccountId,
    actor: {
      kind: actor.kind,
      key_id: actor.keyId,
      name: actor.name,
      ...(actor.portal && { session_id: actor.portal.sessionId, user: actor.portal.user }),
    },
    request_id: event.requestId,
    address: event.address,
    data: { object, previous: subject.before && formerValues(bodyOf(subject.before), object) },
  };
}

/**
 * Returns the response body for an event, as parents see it. If an operator caused the event, the operator's name,
 * request id and address are left out. The parent's metadata is always left out, because only operators may see it.
 */
export function eventToParentBody(event: Event): Static<typeof eventBody> {
  const { type, account_id: accountId, ...body } = eventToBody(event);
  if (accountId === null || !isParentsType(type)) throw new Error('the event belongs to no parent');
  const { object, previous } = body.data;
  return {
    ...body,
    type,
    account_id: accountId,
    ...(event.actor.kind === 'operator' && {
      actor: { ...body.actor, name: null },
      request_id: null,
      address: null,
    }),
    ...(event.subject.kind === 'account' && {
      data: { object: withoutNotes(object), previous: previous && withoutNotes(previous) },
    }),
  };
}

function isParentsType(type: EventType): type is (typeof eventTypes)[number] {
  return (eventTypes as readonly EventType[]).includes(type);
}

/**
 * Returns a function that converts the event's resource to a response body. A key has the status that it had when the
 * event happened.
 */
function bodiesOf({ subject, subAccountId, createdAt }: Event): (record: EventSubject['after']) => Body {
  switch (subject.kind) {
    case 'account':
      return (record) => accountToBody(record as typeof subject.after);
    case 'sub_account':
      return (record) => subAccountToBody(record as typeof subject.after);
    case 'quota':
      return (record) => quotaToBody(record as typeof subject.after);
    case 'plan':
      return (record) => planToBody(record as typeof subject.after);
    case 'api_key': {
      const owner = subAccountId === null ? 'account_id' : 'sub_account_id';
      return (record) => apiKeyToBody(record as typeof subject.after, owner, createdAt.getTime());
    }
  }
}

function quotaToBody({ period, unit, quota, used, startsAt }: QuotaUse): Body {
  const resetsAt =
    period === 'day'
      ? Date.UTC(startsAt.getUTCFullYear(), startsAt.getUTCMonth(), startsAt.getUTCDate() + 1)
      : Date.UTC(startsAt.getUTCFullYear(), startsAt.getUTCMonth() + 1);
  const window = { starts_at: startsAt.toISOString(), resets_at: new Date(resetsAt).toISOString() };
  return { per: period, unit, quota, used, ...window };
}

/**
 * Returns the previous values of the members that changed. Leaves out `updated_at`, which the previous event already
 * shows.
 */
function formerValues({ updated_at: _updatedAt, ...before }: Body, after: Body): Body {
  return Object.fromEntries(
    Object.entries(before).filter(([name, value]) => !isDeepStrictEqual(value, after[name])),
  );
}

function withoutNotes({ metadata: _metadata, ...account }: Body): Body {
  return account;
}
