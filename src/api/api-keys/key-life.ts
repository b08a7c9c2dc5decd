import type { FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { parseAccountId, parseKeyId, type AccountId, type KeyId } from '../../domain/ids.ts';
import { ProblemError } from '../../domain/problem.ts';
import { found } from '../../http/not-found.ts';
import type { Barrier } from '../../ports/barrier.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChangedKey, KeyRotated } from '../../ports/api-keys.ts';
import type { Committed, TenantStore } from '../../ports/tenant-store.ts';
import { claimantOf } from '../claimant.ts';
import { takesAway } from '../call-rates.ts';
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

/** Dependencies of the routes that change a key. */
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

/**
 * How the routes of one key differ between those below its owner and those of operators, who name any key by its id
 * alone.
 */
export interface KeyLifeRules<Access> extends Pick<
  ApiKeyRoutesRules<Access>,
  'caller' | 'write' | 'revoke' | 'countChange'
> {
  /** Path of one key, relative to the prefix of the app. */
  readonly path: `${string}/:key_id`;
  /** Schema of the parameters in `path`. */
  readonly params: TSchema;
  readonly body: typeof apiKeyBody;
  readonly mintedBody: typeof mintedKeyBody;
  /** Reads the ids from the path. @throws ProblemError `not_found` */
  readonly find: (request: FastifyRequest) => KeyPlace;
  /** @param asOfMs time used to determine the key's status, milliseconds since 1970 */
  readonly toBody: (key: ChangedKey, asOfMs: number) => Static<typeof apiKeyBody>;
  /** Throws if the caller may not rotate the key; absent if `write` says all. */
  readonly mayRotate?: (request: FastifyRequest) => Promise<void>;
}

/** Returns the rules for the keys of an account. */
export function ownedKey<Access>(rules: ApiKeyRoutesRules<Access>): KeyLifeRules<Access> {
  return {
    ...rules,
    path: `${rules.path}/:key_id`,
    params: keyPath,
    body: apiKeyBody,
    mintedBody: mintedKeyBody,
    find: (request) => {
      const { owner_id: owner, key_id: key } = request.params as Static<typeof keyPath>;
      const account = found(parseAccountId(owner), ownerThing(rules.ownerField));
      return { account, parent: rules.parent(request), id: found(parseKeyId(key), 'API key') };
    },
    toBody: (key, asOfMs) => apiKeyToBody(key, rules.ownerField, asOfMs),
  };
}

/** Adds the route that changes a key. */
export function keyUpdateRoute<Access>(
  app: RoutesWith<Access>,
  { tenants, barrier, clock, enforcedHeader }: KeyLifeDeps,
  { path, params, body: keyBody, write, caller, find, toBody, countChange }: KeyLifeRules<Access>,
): void {
  app.patch(
    path,
    {
      schema: { params, querystring: noQuery, body: updateBody, response: { 200: keyBody } },
      config: write,
    },
    async (request, reply) => {
      const change = readUpdate(request.body, clock.wallMs());
      const { account, parent, id } = find(request);
      const made = await tenants.updateKey(account, id, change, caller(request), parent);
      const committed = stillActive(found(made, 'API key'));
      const key = await enforced(committed, barrier, reply, enforcedHeader, countChange);
      return toBody(key, clock.wallMs());
    },
  );
}

/** Adds the routes that rotate and revoke a key. */
export function keyEndRoutes<Access>(
  app: RoutesWith<Access>,
  deps: KeyLifeDeps,
  rules: KeyLifeRules<Access>,
): void {
  const { tenants, barrier, clock, enforcedHeader } = deps;
  const { path, params, find, toBody, countChange } = rules;

  app.post(
    `${path}/rotate`,
    {
      schema: { params, querystring: noQuery, body: rotateBody, response: { 201: rules.mintedBody } },
      config: { ...rules.write, takesAway: isAtOnce },
    },
    async (request, reply) => {
      await rules.mayRotate?.(request);
      const caller = rules.caller(request);
      const claim = idempotencyClaim(request, claimantOf(caller));
      const nowMs = clock.wallMs();
      const { expires_in: overlapS, expires_at: expiry = null } = request.body;
      const draft = { overlapS, expiresAt: readExpiry(expiry, nowMs) };
      const { apiKey, clientSecret, stored } = newApiKey(draft, deps.keyPrefix, nowMs, deps.randomBytes);
      const { account, parent, id } = find(request);
      const made = await tenants.rotateKey(account, id, stored, claim, caller, parent);
      const committed = notRotated(stillActive(found(made, 'API key')));
      const key = await enforced(committed, barrier, reply, enforcedHeader, countChange);
      reply.code(201);
      noteReplay(reply, committed);
      // Secrets are not stored, so a replay cannot return them.
      if (committed.replayed) return toBody(key, key.createdAt.getTime());
      return { ...toBody(key, nowMs), api_key: apiKey, client_secret: clientSecret };
    },
  );

  app.post(
    `${path}/revoke`,
    {
      schema: { params, querystring: noQuery, response: { 200: rules.body } },
      config: { ...rules.revoke, action: true, takesAway },
    },
    async (request, reply) => {
      const caller = rules.caller(request);
      const claim = idempotencyClaim(request, claimantOf(caller));
      const { account, parent, id } = find(request);
      const committed = found(await tenants.revokeKey(account, id, claim, caller, parent), 'API key');
      noteReplay(reply, committed);
      const key = await enforced(committed, barrier, reply, enforcedHeader, countChange);
      return toBody(key, clock.wallMs());
    },
  );
}

/** Returns whether a rotation has no overlap, or may have none, before there is a body. */
function isAtOnce(body: unknown): boolean {
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
