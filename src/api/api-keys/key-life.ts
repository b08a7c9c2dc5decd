import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { parseAccountId, parseKeyId, type AccountId, type KeyId } from '../../domain/ids.ts';
import { ProblemError } from '../../domain/problem.ts';
import { found } from '../../http/not-found.ts';
import type { Barrier } from '../../ports/barrier.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChangedKey, KeyRotated } from '../../ports/api-keys.ts';
import type { ChangedBy } from '../../ports/changes.ts';
import type { Committed, TenantStore } from '../../ports/tenant-store.ts';
import { claimantOf } from '../claimant.ts';
import { takesAway } from '../call-rates.ts';
import type { CountChange } from '../guard.ts';
import { enforced, idempotencyClaim, noteReplay } from '../rest/changes.ts';
import { noQuery, type RoutesWith } from '../rest/typebox.ts';
import {
  apiKeyBody,
  apiKeyToBody,
  mintedKeyBody,
  newApiKey,
  ownerThing,
  readExpiry,
  readUpdate,
  rotateBody,
  updateBody,
} from './resource.ts';
import { keyPath, type ApiKeyRoutesRules } from './routes.ts';

/** Dependencies of the functions that change a key. */
export interface KeyLifeDeps {
  readonly tenants: Pick<TenantStore, 'updateKey' | 'rotateKey' | 'revokeKey'>;
  readonly barrier: Barrier;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Name of the receipt header. */
  readonly enforcedHeader: string;
  /** Prefix of new keys. */
  readonly keyPrefix: string;
}

/** Id of a key, and the account that owns it. */
export interface KeyPlace {
  /**
   * Owner of the key; `null` if only the key's id is known. The store then looks up the owner, and returns it
   * together with the changed key as `holding`.
   */
  readonly account: AccountId | null;
  /**
   * Parent that the account must belong to. `null` means that the account must itself be a parent. If absent, any
   * account is accepted.
   */
  readonly parent?: AccountId | null;
  readonly id: KeyId;
}

/** A request to change a key. */
export interface KeyToChange {
  /** Reads the ids from the path. Called after the request has been validated. @throws ProblemError `not_found` */
  readonly find: () => KeyPlace;
  /** Author of the change: a parent and the key that it used, or an operator. */
  readonly caller: ChangedBy;
  /** Counts the change against the parent's rate limit; absent if there is no limit. */
  readonly countChange?: CountChange | undefined;
}

/** The key that a rotation made, along with its secrets. `secrets` is empty if the response is a replay. */
export interface RotatedKey {
  readonly key: ChangedKey;
  readonly secrets: { readonly api_key?: string; readonly client_secret?: string };
  /** Time used to determine the key's status, milliseconds since 1970. */
  readonly asOfMs: number;
}

/** Applies the body of a PATCH to a key. @throws ProblemError `not_found`, `key_not_active`, `invalid_request` */
export async function updateKey(
  deps: KeyLifeDeps,
  { find, caller, countChange }: KeyToChange,
  body: Static<typeof updateBody>,
  reply: FastifyReply,
): Promise<ChangedKey> {
  const change = readUpdate(body, deps.clock.wallMs());
  const { account, parent, id } = find();
  const made = stillActive(
    found(await deps.tenants.updateKey(account, id, change, caller, parent), 'API key'),
  );
  return enforced(made, deps.barrier, reply, deps.enforcedHeader, countChange);
}

/**
 * Replaces a key with a new one.
 *
 * @throws ProblemError `not_found`, `key_not_active`, `invalid_request`
 * @throws ProblemError `key_rotated` if an earlier rotation left two active keys, and this rotation would leave three
 */
export async function rotateKey(
  deps: KeyLifeDeps,
  { find, caller, countChange }: KeyToChange,
  request: FastifyRequest<{ Body: Static<typeof rotateBody> }>,
  reply: FastifyReply,
): Promise<RotatedKey> {
  const claim = idempotencyClaim(request, claimantOf(caller));
  const nowMs = deps.clock.wallMs();
  const { expires_in: overlapS, expires_at: expiry = null } = request.body;
  const draft = { overlapS, expiresAt: readExpiry(expiry, nowMs) };
  const { apiKey, clientSecret, stored } = newApiKey(draft, deps.keyPrefix, nowMs, deps.randomBytes);
  const { account, parent, id } = find();
  const made = notRotated(
    stillActive(found(await deps.tenants.rotateKey(account, id, stored, claim, caller, parent), 'API key')),
  );
  const key = await enforced(made, deps.barrier, reply, deps.enforcedHeader, countChange);
  reply.code(201);
  noteReplay(reply, made);
  // Secrets are not stored, so a replay cannot return them.
  return made.replayed
    ? { key, secrets: {}, asOfMs: key.createdAt.getTime() }
    : { key, secrets: { api_key: apiKey, client_secret: clientSecret }, asOfMs: nowMs };
}

/** Revokes a key; idempotent. @throws ProblemError `not_found` */
export async function revokeKey(
  deps: KeyLifeDeps,
  { find, caller, countChange }: KeyToChange,
  reply: FastifyReply,
): Promise<ChangedKey> {
  const claim = idempotencyClaim(reply.request, claimantOf(caller));
  const { account, parent, id } = find();
  const committed = found(await deps.tenants.revokeKey(account, id, claim, caller, parent), 'API key');
  noteReplay(reply, committed);
  return enforced(committed, deps.barrier, reply, deps.enforcedHeader, countChange);
}

/** Adds the routes that change, rotate and revoke an account's keys. */
export function keyLifeRoutes<Access>(
  app: RoutesWith<Access>,
  deps: KeyLifeDeps,
  rules: Pick<ApiKeyRoutesRules<Access>, 'path' | 'ownerField' | 'parent' | 'caller' | 'write' | 'revoke'> & {
    readonly countChange?: CountChange;
  },
): void {
  const { clock } = deps;
  const { path, ownerField, countChange } = rules;
  const keyOf = (
    request: FastifyRequest,
    params: { readonly owner_id: string; readonly key_id: string },
  ): KeyToChange => ({
    find: () => ({
      account: found(parseAccountId(params.owner_id), ownerThing(ownerField)),
      parent: rules.parent(request),
      id: found(parseKeyId(params.key_id), 'API key'),
    }),
    caller: rules.caller(request),
    countChange,
  });

  app.patch(
    `${path}/:key_id`,
    {
      schema: { params: keyPath, querystring: noQuery, body: updateBody, response: { 200: apiKeyBody } },
      config: rules.write,
    },
    async (request, reply) => {
      const key = await updateKey(deps, keyOf(request, request.params), request.body, reply);
      return apiKeyToBody(key, ownerField, clock.wallMs());
    },
  );

  app.post(
    `${path}/:key_id/rotate`,
    {
      schema: { params: keyPath, querystring: noQuery, body: rotateBody, response: { 201: mintedKeyBody } },
      config: { ...rules.write, takesAway: isAtOnce },
    },
    async (request, reply) => {
      const rotated = await rotateKey(deps, keyOf(request, request.params), request, reply);
      return { ...apiKeyToBody(rotated.key, ownerField, rotated.asOfMs), ...rotated.secrets };
    },
  );

  app.post(
    `${path}/:key_id/revoke`,
    {
      schema: { params: keyPath, querystring: noQuery, response: { 200: apiKeyBody } },
      config: { ...rules.revoke, action: true, takesAway },
    },
    async (request, reply) => {
      const key = await revokeKey(deps, keyOf(request, request.params), reply);
      return apiKeyToBody(key, ownerField, clock.wallMs());
    },
  );
}

/** Returns whether a rotation has no overlap, or may have none, before there is a body. */
export function isAtOnce(body: unknown): boolean {
  return body === undefined || (body as Static<typeof rotateBody>).expires_in === 0;
}

function stillActive<T extends object>(made: T | 'inactive'): T {
  if (made !== 'inactive') return made;
  throw new ProblemError({
    code: 'key_not_active',
    detail: 'This API key is revoked or has expired, which is final. Mint a new one.',
  });
}

function notRotated(made: Committed<ChangedKey> | KeyRotated): Committed<ChangedKey> {
  if (!('newest' in made)) return made;
  throw new ProblemError({
    code: 'key_rotated',
    detail:
      `This API key and another one of its rotation are active; the newest is ${made.newest}. ` +
      'Revoke one of them first, or rotate with `expires_in` 0.',
    extra: { api_key_id: made.newest },
  });
}
