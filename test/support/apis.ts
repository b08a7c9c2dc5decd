/** The management and the operator API on real sockets and a real store, for tests of their responses. */
import { randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { internalServer, portalServer, publicServer, type AppDeps } from '../../src/app.ts';
import type { AuthorizationScheme } from '../../src/domain/authorization.ts';
import { OperatorSessions } from '../../src/api/operator/operator-sessions.ts';
import { OperatorTokens } from '../../src/api/operator/operator-tokens.ts';
import type { Config, OperatorToken, PortalConfig } from '../../src/config.ts';
import { usualOperator } from '../../src/domain/operator-role.ts';
import { headerNames } from '../../src/domain/header-names.ts';
import { liveTails } from '../../src/ops/live/tails.ts';
import type { Directory } from '../../src/ports/directory.ts';
import { systemTimers } from '../../src/ports/timers.ts';
import { TenantConcurrency } from '../../src/limits/concurrency.ts';
import { ActiveExchanges } from '../../src/proxy/active-exchanges.ts';
import type { Seq } from '../../src/ports/facts.ts';
import { noCounting } from './usage-sinks.ts';
import { SessionSecrets } from '../../src/api/session-secrets.ts';
import { systemClock, type Clock } from '../../src/ports/clock.ts';
import { goodConfig } from './config-files.ts';
import { acceptedSchemes, authorizationOf } from './credential-forms.ts';
import type { ManualTime } from './coherence/manual-time.ts';
import { DirectDirectory } from './direct-directory.ts';
import { httpClient, type HttpResponse, type Call, type CallOptions } from './http-client.ts';
import { listening } from './listening.ts';
import { lookupWith } from './names.ts';
import { OneReplicaLimiter } from './one-replica-limiter.ts';
import type { Scope } from './servers.ts';
import { freshStore } from './store.ts';
import { unhurried } from './unhurried.ts';
import { unpaced } from './unpaced.ts';

export const operatorToken = 'operator-token-for-tests';

export interface ApisOptions {
  readonly store?: Store;
  /** Replaces parts of what the APIs are given; `limits` one by one. */
  readonly limits?: Partial<Config['limits']>;
  /** Bytes of events that the changes of one parent may leave in a day. */
  readonly eventBytesPerDay?: number;
  readonly requireActingHeader?: boolean;
  /** Schemes in which `Authorization` may carry API keys; by default the one that `call` sends, and `Bearer`. */
  readonly schemes?: readonly AuthorizationScheme[];
  /** Further headers that carry API keys. */
  readonly apiKeyHeaders?: readonly string[];
  readonly problemTypeBase?: string;
  readonly reference?: Partial<Config['reference']>;
  /** What new keys begin with. */
  readonly keyPrefix?: string;
  readonly adminToken?: string | null;
  /** Further tokens of operators, by name; those without a role are of an `admin`. */
  readonly adminTokens?: Readonly<Record<string, string | Omit<OperatorToken, 'operator'>>>;
  /** By default no guess is slowed. */
  readonly tokenGuesses?: AppDeps['tokenGuesses'];
  readonly trustedProxies?: readonly string[];
  /** Starts the portal, with these parts of its configuration. */
  readonly portal?: Partial<PortalConfig>;
  readonly clock?: Clock;
  /** Time of the listeners and of the bodies that they wait for. */
  readonly time?: ManualTime;
  /** Maximum number of live tails. */
  readonly mostTails?: number;
  /** Is put around each part that the APIs are given. */
  readonly around?: <T extends object>(part: T) => T;
  readonly deps?: Partial<
    Pick<
      AppDeps,
      | 'tenants'
      | 'barrier'
      | 'usageReplay'
      | 'rateLimiter'
      | 'observe'
      | 'observeOperator'
      | 'observePortal'
      | 'pressure'
    >
  > & {
    /** Replaces some functions of the directory, which reads the store for every decision. */
    readonly directory?: Partial<Directory>;
  };
}

/** A parent account with a key, and its client. */
export interface Parent {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
  /** Calls `/v1/sub-accounts<path>` with the parent's key. */
  readonly call: Call;
  /** Creates a sub-account; the response's body. */
  create(body?: Readonly<Record<string, unknown>>): Promise<SubAccountUnderTest>;
}

/** A sub-account with what tests most often want to do with it. */
export interface SubAccountUnderTest {
  readonly id: string;
  /** Its record, from the response when it was created. */
  readonly body: HttpResponse['body'];
  /** Mints a key; the API key itself. */
  mint(scopes?: readonly string[]): Promise<string>;
  act(action: 'deactivate' | 'reactivate'): Promise<HttpResponse>;
}

export interface Apis {
  /** The public listener. There is no route to an upstream. */
  readonly call: Call;
  readonly origin: string;
  /** The operator API, with the token. Paths start with `/accounts`. */
  readonly operator: Call;
  readonly internalOrigin: string;
  /** The listener of the portal; `null` without one. */
  readonly portalOrigin: string | null;
  /** Bytes that both listeners have read of all clients. */
  readonly bytesRead: () => number;
  readonly store: Store;
  /** The tokens in force. */
  readonly operatorTokens: OperatorTokens;
  /** Positions that responses waited for, in order. */
  readonly waitedFor: Seq[];
  /** Makes a parent whose key has `scopes`, by default both of management. */
  parent(scopes?: readonly string[]): Promise<Parent>;
}

/** Starts both APIs on a database of their own; everything ends with the test. */
export async function startApis(t: Scope, options: ApisOptions = {}): Promise<Apis> {
  const store = options.store ?? (await freshStore(t, unhurried)).store;
  const waitedFor: Seq[] = [];
  const around = options.around ?? ((part) => part);
  const base = goodConfig();
  const config: Config = {
    ...base,
    routes: [],
    headers: headerNames(undefined, options.apiKeyHeaders),
    authentication: { schemes: options.schemes ?? acceptedSchemes },
    keys: { prefix: options.keyPrefix ?? base.keys.prefix },
    problems: { typeBase: options.problemTypeBase ?? base.problems.typeBase },
    reference: { ...base.reference, ...options.reference },
    management: { requireActingHeader: options.requireActingHeader ?? false },
    operators: operatorsOf(options),
    portal: options.portal === undefined ? null : { ...usualPortal, ...options.portal },
    trustedProxies: options.trustedProxies ?? [],
    limits: { ...base.limits, ...neverReached, ...options.limits },
    events: { ...base.events, bytesPerDay: options.eventBytesPerDay ?? base.events.bytesPerDay },
  };
  const operatorTokens = new OperatorTokens(config.operators);
  const clock = options.clock ?? systemClock;
  const sessionSecrets = new SessionSecrets({ ...store, clock, randomBytes });
  const deps: AppDeps = {
    config,
    operatorTokens,
    operatorSessions: new OperatorSessions({
      store: around(store.operatorSessions),
      tokens: operatorTokens,
      secrets: sessionSecrets,
    }),
    sessionSecrets,
    tokenGuesses: options.tokenGuesses ?? unpaced,
    barrier: {
      enforced: (seq) => {
        waitedFor.push(seq);
        return Promise.resolve({ replicas: 1, timedOut: 0, streamsClosed: 0, ms: 0 });
      },
    },
    tenants: around(store.tenants),
    events: around(store.events),
    erasures: around(store.erasures),
    portalSessions: around(store.portalSessions),
    usage: around({
      report: (parent, query) => store.usage.report(parent, query),
      completeness: (period, lostAfterMs, parent) => store.usage.completeness(period, lostAfterMs, parent),
      silent: (lostAfterMs) => store.usage.silent(lostAfterMs),
      forget: (replica) => store.usage.forget(replica),
      parentOf: (account, parent) => store.usage.parentOf(account, parent),
      kept: (parent) => store.usage.kept(parent),
      writesByDefault: (parent, nowMs) => store.usage.writesByDefault(parent, nowMs),
    }),
    usageReplay: null,
    counting: noCounting,
    replicaList: around(store.replicaList),
    // As on a drain: a stream ends after its first event, so that a response is complete.
    liveTails: around(
      liveTails({
        ...{ store: store.tails, clock: systemClock, timers: systemTimers },
        collector: {
          begin: () => undefined,
          forget: () => undefined,
          countOpen: () => ({ requests: 0, streams: 0 }),
        },
        ...{ replicaId: () => null, isLeaving: () => true, randomId: randomUUID },
        ...(options.mostTails !== undefined && { most: options.mostTails }),
      }),
    ),
    version: '0.0.0-test',
    factsAge: () => null,
    ownReplicaId: () => around(noReplica).ownId(),
    clock,
    ...(options.time && { timers: options.time.timers }),
    randomBytes,
    logger: pino({ level: 'silent' }),
    registry: new Registry(),
    observe: () => undefined,
    observeOperator: () => undefined,
    observePortal: () => undefined,
    tracer: null,
    unready: () => [],
    rateLimiter: new OneReplicaLimiter(),
    lookup: lookupWith(),
    ...options.deps,
    directory: around(Object.assign(new DirectDirectory(store.facts), options.deps?.directory)),
  };

  const concurrency = new TenantConcurrency(config.limits);
  const publicApp = await publicServer({ ...deps, exchanges: new ActiveExchanges(), concurrency });
  const { destinationOf, shedding } = publicApp;
  const { time } = options;
  const { origin, bytesRead } = await listening(t, publicApp, config, time);
  const internalApp = await internalServer({ ...deps, destinationOf, shedding });
  const internalListener = await listening(t, internalApp, config, time);
  const internalOrigin = internalListener.origin;
  const { portal } = config;
  const portalApp = portal && (await portalServer({ ...deps, portal, shedding, concurrency }));
  const portalOrigin = portalApp && (await listening(t, portalApp, config)).origin;
  const call = httpClient(t, origin, authorizationOf);
  const operator = operatorClient(t, internalOrigin);
  return {
    call,
    origin,
    operator,
    internalOrigin,
    portalOrigin,
    bytesRead: () => bytesRead() + internalListener.bytesRead(),
    operatorTokens,
    store,
    waitedFor,
    parent: makeParents(call, operator),
  };
}

function operatorsOf({ adminToken = operatorToken, adminTokens = {} }: ApisOptions): OperatorToken[] {
  const usual =
    adminToken === null ? [] : [{ operator: usualOperator, token: adminToken, role: 'admin' as const }];
  const named = Object.entries(adminTokens).map(([operator, entry]): OperatorToken =>
    typeof entry === 'string' ? { operator, token: entry, role: 'admin' } : { operator, ...entry },
  );
  return [...usual, ...named];
}

const noReplica = { ownId: (): string | null => null };

/** A portal in most of its usual states. */
const usualPortal: PortalConfig = {
  host: '127.0.0.1',
  port: 0,
  url: 'https://portal.example/',
  name: 'Example',
  logo: null,
  accent: null,
  links: [],
  frameAncestors: [],
  returnUrls: ['https://app.example/'],
  sessionMs: 3_600_000,
};

/** Limits that are not what a test is about, out of its way. */
const neverReached: Partial<Config['limits']> = {
  changesPerSecond: 0,
  readsPerSecond: 0,
  answerMs: 1_000,
  keysPerAccount: 1000,
  managementBodyBytes: 1024 * 1024,
  subAccountsPerParent: 10_000,
  maxEventLoopDelayMs: 0,
};

/** Calls the operator API of an internal listener, with the token. */
export function operatorClient(t: Scope, internalOrigin: string): Call {
  const internal = httpClient(t, internalOrigin);
  return (method, path, more) => internal(method, `/admin/v1${path}`, { key: operatorToken, ...more });
}

/** Makes parents through the operator API; `call` goes to the public listener. */
export function makeParents(call: Call, operator: Call): Apis['parent'] {
  return async (scopes = ['sub_accounts:read', 'sub_accounts:write']) => {
    const { id } = expectStatus(await operator('POST', '/accounts', { body: { name: 'Parent' } }), 201);
    const minted = await operator('POST', `/accounts/${String(id)}/api-keys`, {
      body: { name: 'key', scopes },
    });
    const { api_key: key, id: keyId } = expectStatus(minted, 201) as Record<string, string>;
    const own: Call = (method, path, options?: CallOptions) =>
      call(method, `/v1/sub-accounts${path}`, { key: key ?? '', ...options });
    const create = async (body: Readonly<Record<string, unknown>> = { name: 'Child' }) =>
      makeSubAccount(own, expectStatus(await own('POST', '', { body }), 201));
    return { id: String(id), key: key ?? '', keyId: keyId ?? '', call: own, create };
  };
}

function makeSubAccount(call: Call, body: HttpResponse['body']): SubAccountUnderTest {
  const id = String(body['id']);
  return {
    id,
    body,
    mint: async (scopes = []) => {
      const minted = await call('POST', `/${id}/api-keys`, { body: { name: 'key', scopes } });
      return String(expectStatus(minted, 201)['api_key']);
    },
    act: (action) => call('POST', `/${id}/${action}`),
  };
}

function expectStatus(response: HttpResponse, status: number): HttpResponse['body'] {
  if (response.status === status) return response.body;
  throw new Error(`expected ${status}, got ${response.status}: ${response.text}`);
}
