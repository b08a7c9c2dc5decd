import { loadConfig } from '../config/load.ts';
import { formats } from '../config/formats.ts';
import type { Config } from '../config.ts';
import { usualOperator } from '../domain/operator-role.ts';
import { operatorTokenFile, readOperatorToken } from '../wiring/operator-token.ts';
import { originOf } from '../wiring/welcome.ts';
import { badConfiguration, exitCode, Failure } from './failure.ts';

/** Variable with the token of the person or program that runs a command. */
const tokenVariable = 'TENANCY_GATEWAY_TOKEN';

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
  throw badConfiguration(loaded.faults);
}

/**
 * Finds the operator API's address in the gateway's configuration. The token is that of `TENANCY_GATEWAY_TOKEN`,
 * otherwise `ADMIN_TOKEN` of the configuration, otherwise the one in the file that an embedded store keeps.
 *
 * @param url address to use instead of the configured one
 * @throws {Failure} if the configuration has faults, there is no token, or `url` is not an address
 */
export function findTarget(env: NodeJS.ProcessEnv, url: string | undefined): Target {
  const { internal, operators, store, headers } = commandConfig(env);
  const found = findToken(env, operators, store);
  if (found === undefined) throw noToken(store);
  return {
    url: url === undefined ? originOf('http', internal) : originIn(url, '--url', 'http://127.0.0.1:9090'),
    ...found,
    enforcedHeader: headers.enforced,
  };
}

function findToken(
  env: NodeJS.ProcessEnv,
  operators: Config['operators'],
  store: Config['store'],
): Pick<Target, 'token' | 'tokenFrom'> | undefined {
  const own = env[tokenVariable]?.trim();
  if (own) return { token: visible(own), tokenFrom: tokenVariable };
  const usual = operators.find(({ operator }) => operator === usualOperator);
  if (usual !== undefined) {
    const tokenFrom = env['ADMIN_TOKEN'] ? 'ADMIN_TOKEN' : 'internal.admin_token in the file of CONFIG';
    return { token: usual.token, tokenFrom };
  }
  const token = store.kind === 'embedded' ? readOperatorToken(store.dataDir) : undefined;
  if (token === undefined || store.kind !== 'embedded') return undefined;
  return { token, tokenFrom: operatorTokenFile(store.dataDir) };
}

function visible(token: string): string {
  if (formats['token']?.accepts(token)) return token;
  throw new Failure(
    exitCode.notAllowed,
    `${tokenVariable} is not a token: it must be ${formats['token']?.expected}.`,
  );
}

function noToken(store: Config['store']): Failure {
  const hint =
    store.kind === 'embedded'
      ? `Looked in ${operatorTokenFile(store.dataDir)}. Run this where the gateway was started, name its folder ` +
        `(DATA_DIR), or set ${tokenVariable} to your token.`
      : `Set ${tokenVariable} to your token, or ADMIN_TOKEN to the one that the gateway was started with.`;
  return new Failure(exitCode.notAllowed, 'There is no operator token.', hint);
}

/** Returns the origin of an address that an option names. @param example shown if it is none @throws {Failure} */
export function originIn(url: string, option: string, example: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  throw new Failure(exitCode.usage, `${option} must be an address such as ${example}.`);
}
