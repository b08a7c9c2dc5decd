import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { ApiKey } from '../../domain/api-key.ts';
import { parseKeyId, type AccountId, type KeyId } from '../../domain/ids.ts';
import { ProblemError } from '../../domain/problem.ts';
import { found } from '../../http/not-found.ts';
import type { Barrier } from '../../ports/barrier.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChangedBy } from '../../ports/changes.ts';
import type { Committed, TenantStore } from '../../ports/tenant-store.ts';
import { claimantOf } from '../changed-by.ts';
import type { CountChange } from '../guard.ts';
import { enforced, idempotencyClaim, noteReplay } from '../rest/changes.ts';
import { keyLimitsOf } from '../rest/limits.ts';
import { noQuery, type TypedApp } from '../rest/typebox.ts';
import {
  apiKeyBody,
  apiKeyToBody,
  mintedKeyBody,
  newApiKey,
  readExpiry,
  rotateBody,
  updateBody,
} from './resource.ts';
import { keyPath, type ApiKeyRoutesRules } from './routes.ts';

/** What changes of a key work with. */
export interface KeyLifeDeps {
  readonly tenants: Pick<TenantStore, 'updateKey' | 'rotateKey' | 'revokeKey'>;
  readonly barrier: Barrier;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Name of the receipt header. */
  readonly enforcedHeader: string;
  /** What new keys begin with. */
  readonly keyPrefix: string;
}

/** Which key it is. */
export interface KeyPlace {
  readonly account: AccountId;
  readonly id: KeyId;
}

/** A key that is to change, and who asks for that. */
export interface KeyToChange<Place extends KeyPlace> {
  /** Looks it up, once nothing is wrong with the request itself. @throws ProblemError `not_found` */
  readonly find: () => Promise<Place>;
  /** The parent's key or the operator that asks. */
  readonly caller: ChangedBy;
  /** What changes are counted by; absent where there is no limit. */
  readonly countChange?: CountChange | undefined;
}

/** What a key has become. */
export interface ChangedKey<Place extends KeyPlace> {
  readonly key: ApiKey;
  readonly place: Place;
}

/** A new key with its secrets, which only the request that made it gets. */
export interface RotatedKey<Place extends KeyPlace> extends ChangedKey<Place> {
  readonly secrets: { readonly api_key?: string; readonly client_secret?: string };
  /** When it was as it is shown, milliseconds since 1970. */
  readonly asOfMs: number;
}

/** Changes a key by a PATCH. @throws ProblemError `not_found`, `key_not_active`, `invalid_request` */
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
  const made = stillActive(found(await deps.tenants.updateKey(account, id, change, caller)));
  return { key: await enforced(made, deps.barrier, reply, deps.enforcedHeader, countChange), place };
}

/** Puts a new key in place of another one. @throws ProblemError as {@link updateKey} */
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
  const made = stillActive(found(await deps.tenants.rotateKey(account, id, stored, claim, caller)));
  const key = await enforced(made, deps.barrier, reply, deps.enforcedHeader, countChange);
  reply.code(201).header('cache-control', 'no-store');
  noteReplay(reply, made);
  // Not stored, so a replay cannot have them.
  return made.replayed
    ? { key, place, secrets: {}, asOfMs: key.createdAt.getTime() }
    : { key, place, secrets: { api_key: apiKey, client_secret: clientSecret }, asOfMs: nowMs };
}

/** Revokes a key, with the same result however often. @throws ProblemError `not_found` */
export async function revokeKey<Place extends KeyPlace>(
  deps: KeyLifeDeps,
  { find, caller, countChange }: KeyToChange<Place>,
  reply: FastifyReply,
): Promise<ChangedKey<Place>> {
  const claim = idempotencyClaim(reply.request, claimantOf(caller));
  const place = await find();
  const { account, id } = place;
  const committed = found(await deps.tenants.revokeKey(account, id, claim, caller));
  noteReplay(reply, committed);
  return { key: await enforced(committed, deps.barrier, reply, deps.enforcedHeader, countChange), place };
}

/** Change, rotate and revoke the keys of one account: a list of routes, one after the other. */
export function keyLifeRoutes(
  app: TypedApp,
  deps: KeyLifeDeps,
  rules: Pick<ApiKeyRoutesRules, 'path' | 'ownerField' | 'owner' | 'caller' | 'write'> & {
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
      account: found(await rules.owner(request, params.owner_id)),
      id: found(parseKeyId(params.key_id)),
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

function stillActive(made: Committed<ApiKey> | 'inactive'): Committed<ApiKey> {
  if (made !== 'inactive') return made;
  throw new ProblemError({
    code: 'key_not_active',
    detail: 'This API key is revoked or has expired, and stays so. Mint a new one.',
  });
}
