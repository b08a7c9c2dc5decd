import { loadConfig } from '../config/load.ts';
import { formatFaults } from '../config/fault.ts';
import type { Config } from '../config.ts';
import { operatorTokenFile, readOperatorToken } from '../wiring/operator-token.ts';
import { exitCode, Failure } from './failure.ts';

/** The gateway that a command talks to. */
export interface Target {
  /** URL of the internal listener, without a path. */
  readonly url: string;
  readonly token: string;
  /** Where the token was found: name of the variable, setting or file. */
  readonly tokenFrom: string;
  /** Name of the header that carries a change's receipt. */
  readonly enforcedHeader: string;
}

/** Loads the configuration for a command, without checks that only a running gateway needs. @throws {Failure} */
export function commandConfig(env: NodeJS.ProcessEnv): Config {
  const loaded = loadConfig(env, { purpose: 'command' });
  if ('config' in loaded) return loaded.config;
  throw new Failure(exitCode.badConfiguration, formatFaults(loaded.faults).trimEnd(), undefined, {
    faults: loaded.faults,
  });
}

/**
 * Finds the operator API's address and token in the gateway's configuration. If no token is configured, the token is
 * read from the file that an embedded store keeps.
 *
 * @param url address to use instead of the configured one
 * @throws {Failure} if the configuration has faults, there is no token, or `url` is not an address
 */
export function findTarget(env: NodeJS.ProcessEnv, url: string | undefined): Target {
  const { internal, store, headers } = commandConfig(env);
  const found = findToken(env, internal, store);
  if (found === undefined) throw noToken(store);
  return {
    url: url === undefined ? origin(internal) : checked(url),
    ...found,
    enforcedHeader: headers.enforced,
  };
}

function findToken(
  env: NodeJS.ProcessEnv,
  { adminToken }: Config['internal'],
  store: Config['store'],
): Pick<Target, 'token' | 'tokenFrom'> | undefined {
  if (adminToken !== null) {
    const tokenFrom = env['ADMIN_TOKEN'] ? 'ADMIN_TOKEN' : 'internal.admin_token in the file of CONFIG';
    return { token: adminToken, tokenFrom };
  }
  const token = store.kind === 'embedded' ? readOperatorToken(store.dataDir) : undefined;
  if (token === undefined || store.kind !== 'embedded') return undefined;
  return { token, tokenFrom: operatorTokenFile(store.dataDir) };
}

function noToken(store: Config['store']): Failure {
  const hint =
    store.kind === 'embedded'
      ? `Looked in ${operatorTokenFile(store.dataDir)}. Run this where the gateway was started, name its folder ` +
        `(DATA_DIR), or set ADMIN_TOKEN to the token the gateway was given.`
      : 'Set ADMIN_TOKEN to the token the gateway was given.';
  return new Failure(exitCode.notAllowed, 'There is no operator token.', hint);
}

function checked(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  throw new Failure(exitCode.usage, '--url must be an address such as http://127.0.0.1:9090.');
}

function origin({ host, port }: { readonly host: string; readonly port: number }): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
