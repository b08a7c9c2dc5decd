/** Whole gateways as they run in production, several over one PostgreSQL and one Redis, before one real upstream. */
import type { Config } from '../../src/config.ts';
import { openLog } from '../../src/ops/logger.ts';
import { startGateway } from '../../src/wiring/start.ts';
import { makeParents, operatorClient, operatorToken, type Apis } from './apis.ts';
import { configFile, goodConfig } from './config-files.ts';
import { acceptedSchemes, formOf, type FormName } from './credential-forms.ts';
import { httpClient, type Call } from './http-client.ts';
import { freshDatabase } from './postgres.ts';
import { freshRedis } from './redis.ts';
import type { Scope } from './servers.ts';
import { migrated } from './store.ts';
import { upstreamClient } from './upstream-client-option.ts';
import { unhurried } from './unhurried.ts';
import { startUpstream, type Received, type Upstream } from './upstreams.ts';

export interface Replicas {
  /** The first replica: where tests manage. */
  readonly manage: Call;
  /** The other replica: where tests look whether it is enforced. */
  readonly call: Call;
  readonly operator: Call;
  /** Of the first replica. */
  readonly manageOrigin: string;
  /** Of the other one. */
  readonly origin: string;
  readonly internal: Call;
  /** Of the first replica. */
  readonly internalOrigin: string;
  readonly upstream: Upstream;
  readonly databaseUrl: string;
  readonly parent: Apis['parent'];
  /** What the upstream got last. */
  readonly last: () => Received;
}

/**
 * @param yaml the configuration file of both, beside what the environment says
 * @param keys how they are sent: the files of test/spec have different forms, so that a run has all of them
 */
export async function startReplicas(t: Scope, yaml = '', keys: FormName = 'Bearer'): Promise<Replicas> {
  const upstream = await startUpstream(t);
  const client = upstreamClient === 'native' ? '' : `route_defaults: { client: ${upstreamClient} }\n`;
  const env = {
    PORT: '0',
    COHERENCE_LEASE_MS: '60000',
    INTERNAL_PORT: '0',
    DATABASE_URL: await freshDatabase(t, migrated),
    REDIS_URL: await freshRedis(t),
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: operatorToken,
    CONFIG: configFile(t, `${yaml}\n${client}${neverShed}`),
  };
  const { scheme, of: authorizationOf } = formOf(keys);
  const schemes = [...new Set([...acceptedSchemes, scheme])];
  const config = { ...goodConfig(env), authentication: { schemes } };
  const [first, second] = [await startInProcess(t, config), await startInProcess(t, config)];
  const internal = httpClient(t, first.internalOrigin);
  const operator = operatorClient(t, first.internalOrigin);
  const manage = httpClient(t, first.origin, authorizationOf);
  return {
    manage,
    call: httpClient(t, second.origin, authorizationOf),
    operator,
    manageOrigin: first.origin,
    origin: second.origin,
    internal,
    internalOrigin: first.internalOrigin,
    upstream,
    databaseUrl: env.DATABASE_URL,
    parent: makeParents(manage, operator),
    last: () => {
      const received = upstream.received.at(-1);
      if (received === undefined) throw new Error('the upstream got nothing');
      return received;
    },
  };
}

/** The machine that runs the tests may stand still for seconds; that is not what they are about. */
const neverShed = 'limits:\n  max_event_loop_delay_ms: 0\n  changes_per_second: 0\n  reads_per_second: 0\n';

/** Starts a gateway in this process, until the test ends. */
export async function startInProcess(t: Scope, config: Config) {
  const gateway = await startGateway(config, openLog('silent').logger, undefined, null, unhurried);
  t.teardown(() => gateway.stop());
  await gateway.begun;
  const [origin, internalOrigin] = [gateway.publicAddress, gateway.internalAddress].map(
    ({ port }) => `http://127.0.0.1:${port}`,
  ) as [string, string];
  return { gateway, origin, internalOrigin };
}
