import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { parseAccountId, parseKeyId, type AccountId } from '../../domain/ids.ts';
import { ProblemError } from '../../domain/problem.ts';
import { misspelledManagementScope } from '../../domain/scope.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChangedBy } from '../../ports/changes.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import { claimantOf, tenantOf } from '../claimant.ts';
import type { CountChange } from '../guard.ts';
import {
  apiKeyBody,
  apiKeyToBody,
  mintBody,
  mintedKeyBody,
  newApiKey,
  ownerThing,
  readMint,
  statuses,
  type OwnerField,
} from './resource.ts';
import { idempotencyClaim, noteReplay, withinLimit } from '../rest/changes.ts';
import { found } from '../../http/not-found.ts';
import { pageOf, pageQuery, readPage, writePage } from '../rest/paging.ts';
import { closed, noQuery, type RoutesWith } from '../rest/typebox.ts';
import { invalidField } from '../../http/invalid-request.ts';

/** Dependencies of {@link apiKeyRoutes}. */
export interface ApiKeyRoutesDeps {
  readonly tenants: Pick<TenantStore, 'createKey' | 'listKeys' | 'getKey' | 'getParent' | 'getSubAccount'>;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly keysPerAccount: number;
  /** Prefix of new keys. */
  readonly keyPrefix: string;
}

/**
 * Differences between the routes for parents' keys (operator API) and the routes for sub-accounts' keys (management
 * API). `Access` is the type of a route's `config`. The `config` says who may call the route.
 */
export interface ApiKeyRoutesRules<Access> {
  /** Path of an account's keys, relative to the prefix of the app. */
  readonly path: `${string}/:owner_id/api-keys`;
  /** Member that names the owner in responses. */
  readonly ownerField: OwnerField;
  /** Returns the parent that the account in the path must belong to; `null` if the account must itself be a parent. */
  readonly parent: (request: FastifyRequest) => AccountId | null;
  /** Returns the caller: a parent and the key that it used, or an operator. */
  readonly caller: (request: FastifyRequest) => ChangedBy;
  /** Returns why a key may not have a scope; `undefined` if it may. */
  readonly scopeFault: (scope: string, request: FastifyRequest) => string | undefined;
  readonly read: Access;
  /** For calls that mint, rotate or update keys. */
  readonly write: Access;
  readonly revoke: Access;
  /** Counts a change against the parent's rate limit; absent if there is no limit. */
  readonly countChange?: CountChange;
}

/** Path parameters for an account's keys. */
export const ownerPath = closed({ owner_id: Type.String() });
/** Path parameters for a single key. */
export const keyPath = closed({ owner_id: Type.String(), key_id: Type.String() });

/** Adds the routes that mint, list and get an account's keys (spec section 4). */
export function apiKeyRoutes<Access>(
  app: RoutesWith<Access>,
  deps: ApiKeyRoutesDeps,
  rules: ApiKeyRoutesRules<Access>,
): void {
  mintRoute(app, deps, rules);
  listRoute(app, deps, rules);
  getRoute(app, deps, rules);
}

function mintRoute<Access>(
  app: RoutesWith<Access>,
  deps: ApiKeyRoutesDeps,
  rules: ApiKeyRoutesRules<Access>,
): void {
  const { tenants, clock, randomBytes } = deps;
  const { path, ownerField } = rules;

  app.post(
    path,
    {
      schema: { params: ownerPath, querystring: noQuery, body: mintBody, response: { 201: mintedKeyBody } },
      config: rules.write,
    },
    async (request, reply) => {
      const caller = rules.caller(request);
      const claim = idempotencyClaim(request, claimantOf(caller));
      const nowMs = clock.wallMs();
      request.body.scopes?.forEach((scope, index) => {
        requireGrantable(index, rules.scopeFault(scope, request));
        const fault = misspelledManagementScope(scope);
        if (fault !== undefined) throw invalidField(`/scopes/${index}`, fault);
      });
      const draft = readMint(request.body, nowMs);
      const owner = found(parseAccountId(request.params.owner_id), ownerThing(ownerField));
      const { apiKey, clientSecret, stored } = newApiKey(draft, deps.keyPrefix, nowMs, randomBytes);
      const key = withinLimit(
        found(
          await tenants.createKey(owner, stored, deps.keysPerAccount, claim, caller, rules.parent(request)),
          ownerThing(ownerField),
        ),
        'API keys',
      );
      reply.code(201);
      noteReplay(reply, key);
      // Secrets are not stored, so a replay cannot return them.
      const secrets = key.replayed ? {} : { api_key: apiKey, client_secret: clientSecret };
      const asOfMs = key.replayed ? key.createdAt.getTime() : nowMs;
      return { ...apiKeyToBody(key, ownerField, asOfMs), ...secrets };
    },
  );
}

function requireGrantable(index: number, detail: string | undefined): void {
  if (detail === undefined) return;
  throw new ProblemError({
    code: 'scope_not_grantable',
    detail,
    errors: [{ pointer: `/scopes/${index}`, detail }],
  });
}

function listRoute<Access>(
  app: RoutesWith<Access>,
  deps: ApiKeyRoutesDeps,
  rules: ApiKeyRoutesRules<Access>,
): void {
  const { tenants, clock } = deps;
  const { path, ownerField } = rules;

  app.get(
    path,
    {
      schema: {
        params: ownerPath,
        querystring: closed({ ...pageQuery(), status: Type.Optional(Type.Enum([...statuses])) }),
        response: { 200: closed(pageOf(apiKeyBody)) },
      },
      config: rules.read,
    },
    async (request) => {
      const { status } = request.query;
      // A cursor is valid only for the list name that it came from.
      const list = ['api-keys', request.params.owner_id.toLowerCase(), status];
      const page = { ...readPage(request.query, list), ...(status && { status }) };
      const owner = await ownerOf(request, tenants, rules);
      const nowMs = clock.wallMs();
      return writePage(
        await tenants.listKeys(owner, page, tenantOf(rules.caller(request))),
        list,
        (key) => key.id,
        (key) => apiKeyToBody(key, ownerField, nowMs),
      );
    },
  );
}

function getRoute<Access>(
  app: RoutesWith<Access>,
  deps: ApiKeyRoutesDeps,
  rules: ApiKeyRoutesRules<Access>,
): void {
  const { tenants, clock } = deps;
  const { path, ownerField } = rules;

  app.get(
    `${path}/:key_id`,
    {
      schema: { params: keyPath, querystring: noQuery, response: { 200: apiKeyBody } },
      config: rules.read,
    },
    async (request) => {
      const owner = await ownerOf(request, tenants, rules);
      const id = found(parseKeyId(request.params.key_id), 'API key');
      const key = found(await tenants.getKey(owner, id, tenantOf(rules.caller(request))), 'API key');
      return apiKeyToBody(key, ownerField, clock.wallMs());
    },
  );
}

/**
 * Looks up the owner of keys for a call that only reads keys. Calls that change keys need no such look-up, because
 * their SQL statements find the owner.
 */
async function ownerOf(
  request: FastifyRequest<{ Params: { readonly owner_id: string } }>,
  tenants: ApiKeyRoutesDeps['tenants'],
  { ownerField, parent: parentOf }: Pick<ApiKeyRoutesRules<unknown>, 'ownerField' | 'parent'>,
): Promise<AccountId> {
  const id = found(parseAccountId(request.params.owner_id), ownerThing(ownerField));
  const parent = parentOf(request);
  const account = parent === null ? await tenants.getParent(id) : await tenants.getSubAccount(parent, id);
  return found(account, ownerThing(ownerField)).id;
}
