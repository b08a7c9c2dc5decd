import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { ApiKey } from '../../domain/api-key.ts';
import { parseKeyId, type AccountId, type KeyId } from '../../domain/ids.ts';
import { ProblemError } from '../../domain/problem.ts';
import { found } from '../../http/not-found.ts';
import type { Barrier } from '../../ports/barrier.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyRotated } from '../../ports/api-keys.ts';
import type { ChangedBy } from '../../ports/changes.ts';
import type { Committed, TenantStore } from '../../ports/tenant-store.ts';
import { claimantOf } from '../changed-by.ts';
import type { CountChange } from '../guard.ts';
import { enforced, idempotencyClaim, noteReplay } from '../rest/changes.ts';
import { keyLimitsOf } from '../rest/limits.ts';
import { noQuery, type RoutesWith } from '../rest/typebox.ts';
import {
  apiKeyBody,
  apiKeyToBody,
  mintedKeyBody,
  newApiKey,
  ownerThing,
  readExpiry,
  rotateBody,
  updateBody,
} from './resource.ts';
import { keyPath, type ApiKeyRoutesRules } from './routes.ts';

/** Dependencies of changes to a key. */
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

/** A key and the account that holds it. */
export interface KeyPlace {
  readonly account: AccountId;
  readonly id: KeyId;
}

/** A requested change of a key. */
export interface KeyToChange<Place extends KeyPlace> {
  /** Looks the key up; called after the request itself is validated. @throws ProblemError `not_found` */
  readonly find: () => Promise<Place>;
  /** Key of the parent, or operator, that asks for the change. */
  readonly caller: ChangedBy;
  /** Counts changes; absent if there is no limit. */
  readonly countChange?: CountChange | undefined;
}

/** A key after a change. */
export interface ChangedKey<Place extends KeyPlace> {
  readonly key: ApiKey;
  readonly place: Place;
}

/** A new key with its secrets, which only the first response holds. */
export interface RotatedKey<Place extends KeyPlace> extends ChangedKey<Place> {
  readonly secrets: { readonly api_key?: string; readonly client_secret?: string };
  /** Time of the state that is shown, milliseconds since 1970. */
  readonly asOfMs: number;
}

/** Changes a key as a PATCH asks. @throws ProblemError `not_found`, `key_not_active`, `invalid_request` */
export async function updateKey<Place extends KeyPlace>(
  deps: KeyLifeDeps,
  { find, caller, countChange }: KeyToChange<Place>,
  { name, expires_at: expiry, limits }: Static<typeof updateBody>,
  reply: FastifyReply,
): Promise<ChangedKey<Place>> {
  const change = {
    ...(name !== undefined && { name }),
    ...(expiry !== undefined && { expiresAt: readExpiry(expiry, deps.clock.wallMs()) }),
    ...(limits !== undefined && { limits: keyLimitsOf(limits) }),
  };
  const place = await find();
  const { account, id } = place;
  const made = stillActive(found(await deps.tenants.updateKey(account, id, change, caller), 'API key'));
  return { key: await enforced(made, deps.barrier, reply, deps.enforcedHeader, countChange), place };
}

/** Replaces a key by a new one. @throws ProblemError as {@link updateKey} */
export async function rotateKey<Place extends KeyPlace>(
  deps: KeyLifeDeps,
  { find, caller, countChange }: KeyToChange<Place>,
  request: FastifyRequest<{ Body: Static<typeof rotateBody> }>,
  reply: FastifyReply,
): Promise<RotatedKey<Place>> {
  const claim = idempotencyClaim(request, claimantOf(caller));
  const nowMs = deps.clock.wallMs();
  const { expires_in: overlapS, expires_at: expiry = null } = request.body;
  const draft = { overlapS, expiresAt: readExpiry(expiry, nowMs) };
  const { apiKey, clientSecret, stored } = newApiKey(draft, deps.keyPrefix, nowMs, deps.randomBytes);
  const place = await find();
  const { account, id } = place;
  const made = notRotated(
    stillActive(found(await deps.tenants.rotateKey(account, id, stored, claim, caller), 'API key')),
  );
  const key = await enforced(made, deps.barrier, reply, deps.enforcedHeader, countChange);
  reply.code(201).header('cache-control', 'no-store');
  noteReplay(reply, made);
  // Secrets are not stored, so a replay cannot show them.
  return made.replayed
    ? { key, place, secrets: {}, asOfMs: key.createdAt.getTime() }
    : { key, place, secrets: { api_key: apiKey, client_secret: clientSecret }, asOfMs: nowMs };
}

/** Revokes a key; idempotent. @throws ProblemError `not_found` */
export async function revokeKey<Place extends KeyPlace>(
  deps: KeyLifeDeps,
  { find, caller, countChange }: KeyToChange<Place>,
  reply: FastifyReply,
): Promise<ChangedKey<Place>> {
  const claim = idempotencyClaim(reply.request, claimantOf(caller));
  const place = await find();
  const { account, id } = place;
  const committed = found(await deps.tenants.revokeKey(account, id, claim, caller), 'API key');
  noteReplay(reply, committed);
  return { key: await enforced(committed, deps.barrier, reply, deps.enforcedHeader, countChange), place };
}

/** Adds the routes that change, rotate and revoke keys of one account. */
export function keyLifeRoutes<Access>(
  app: RoutesWith<Access>,
  deps: KeyLifeDeps,
  rules: Pick<ApiKeyRoutesRules<Access>, 'path' | 'ownerField' | 'owner' | 'caller' | 'write'> & {
    readonly countChange?: CountChange;
  },
): void {
  const { clock } = deps;
  const { path, ownerField, countChange } = rules;
  const keyOf = (
    request: FastifyRequest,
    params: { readonly owner_id: string; readonly key_id: string },
  ): KeyToChange<KeyPlace> => ({
    find: async () => ({
      account: found(await rules.owner(request, params.owner_id), ownerThing(ownerField)),
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
      const { key } = await updateKey(deps, keyOf(request, request.params), request.body, reply);
      return apiKeyToBody(key, ownerField, clock.wallMs());
    },
  );

  app.post(
    `${path}/:key_id/rotate`,
    {
      schema: { params: keyPath, querystring: noQuery, body: rotateBody, response: { 201: mintedKeyBody } },
      config: rules.write,
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
      config: { ...rules.write, action: true },
    },
    async (request, reply) => {
      const { key } = await revokeKey(deps, keyOf(request, request.params), reply);
      return apiKeyToBody(key, ownerField, clock.wallMs());
    },
  );
}

function stillActive<T extends object>(made: T | 'inactive'): T {
  if (made !== 'inactive') return made;
  throw new ProblemError({
    code: 'key_not_active',
    detail: 'This API key is revoked or has expired, which is final. Mint a new one.',
  });
}

function notRotated(made: Committed<ApiKey> | KeyRotated): Committed<ApiKey> {
  if (!('newest' in made)) return made;
  throw new ProblemError({
    code: 'key_rotated',
    detail:
      `This API key and another one of its rotation are active; the newest is ${made.newest}. ` +
      'Revoke one of them first, or rotate with `expires_in` 0.',
    extra: { api_key_id: made.newest },
  });
}
