import type { Command } from 'commander';
import { mismatchIn, UnusableDatabase } from '../adapters/postgres/schema/applied.ts';
import { openPostgres } from '../adapters/postgres/store.ts';
import type { Fault } from '../config/fault.ts';
import { loadConfig } from '../config/load.ts';
import type { Config, RouteConfig } from '../config.ts';
import { usualKeyPrefix } from '../domain/api-key.ts';
import { KeyPrefixTaken, refuseTakenPrefix } from '../wiring/key-prefix.ts';
import { badConfiguration, exitCode, Failure } from './failure.ts';
import type { Context } from './context.ts';

/** `config check [file]`: reports the faults that starting the gateway would report, without starting it. */
export function configCommands(program: Command, context: Context): void {
  program
    .command('config')
    .description('the configuration')
    .command('check')
    .description('report every fault in the variables and the file, as a start would')
    .argument('[file]', 'the file; otherwise the one that CONFIG names, if any')
    .action(async (file: string | undefined) => {
      const loaded = loadConfig(file === undefined ? context.env : { ...context.env, CONFIG: file });
      if ('faults' in loaded) throw badConfiguration(loaded.faults);
      const { config } = loaded;
      const warnings = [...loaded.warnings, ...(await checkKeyPrefix(config))];
      context
        .output()
        .result({ ok: true, warnings }, () =>
          [
            'The configuration is good.',
            summary(config),
            ...(warnings.length > 0 ? [soon(warnings)] : []),
          ].join('\n\n'),
        );
    });
}

const prefixPath = 'keys.prefix';

/**
 * Checks in PostgreSQL whether any imported key begins with `keys.prefix`. An embedded store is not checked, because a
 * running gateway may have it open.
 *
 * @returns a warning if the database could not be checked
 * @throws {Failure} if an imported key begins with the prefix
 */
async function checkKeyPrefix({ keys: { prefix }, store: config }: Config): Promise<readonly Fault[]> {
  if (prefix === usualKeyPrefix) return [];
  const unasked = (why: string): Fault[] => [
    { where: prefixPath, detail: `imported keys that begin like keys.prefix were not checked: ${why}` },
  ];
  if (config.kind === 'embedded') return unasked('a start checks the embedded store');
  const store = openPostgres(config);
  try {
    await store.ping();
    await refuseTakenPrefix(store, prefix);
    return [];
  } catch (error) {
    const mismatch = mismatchIn(error);
    if (mismatch instanceof UnusableDatabase) throw new Failure(exitCode.badConfiguration, mismatch.message);
    if (!(error instanceof KeyPrefixTaken)) return unasked('the database cannot be asked');
    throw badConfiguration([{ where: prefixPath, detail: error.message }]);
  } finally {
    await store.close();
  }
}

function soon(warnings: readonly Fault[]): string {
  return ['Warnings:', ...warnings.map(({ where, detail }) => `  ${where}  ${detail}`)].join('\n');
}

function summary(config: Config): string {
  const { listen, internal, portal, operators, store, redis, routes, authentication, headers } = config;
  const keysIn = [`Authorization (${authentication.schemes.join(', ')})`, ...headers.apiKey];
  return [
    `  public listener    ${listen.host}:${listen.port}${listen.tls === null ? '' : ' (TLS)'}`,
    `  internal listener  ${internal.host}:${internal.port}`,
    `  portal             ${portal === null ? 'off' : `${portal.host}:${portal.port}, for browsers ${portal.url}`}`,
    `  store              ${store.kind === 'embedded' ? `embedded, in ${store.dataDir}` : 'PostgreSQL'}`,
    `  Redis              ${redis.url === null ? 'none' : 'yes'}`,
    `  operator API       ${operators.length > 0 || store.kind === 'embedded' ? 'on' : 'off (no ADMIN_TOKEN)'}`,
    `  API keys in        ${keysIn.join(', ')}`,
    ...(routes.length === 0 ? ['  / → the built-in echo'] : routes.map(showRoute)),
  ].join('\n');
}

/** Formats a route on one line. An open route is marked, so that no operator overlooks one. */
function showRoute({ prefix, upstream, open }: RouteConfig): string {
  const without = open === null ? '' : `, without a key, ${open.perSecond} a second`;
  return `  ${prefix} → ${upstream}${without}`;
}
