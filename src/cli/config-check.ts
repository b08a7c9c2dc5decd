import type { Command } from 'commander';
import { formatFaults, type Fault } from '../config/fault.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config.ts';
import { exitCode, Failure } from './failure.ts';
import type { Context } from './context.ts';

/** `config check [file]`: what a start would say, without starting. */
export function configCommands(program: Command, context: Context): void {
  program
    .command('config')
    .description('the configuration')
    .command('check')
    .description('report every fault of the variables and of the file, as a start would')
    .argument('[file]', 'the file; otherwise the one that CONFIG names, if any')
    .action((file: string | undefined) => {
      const loaded = loadConfig(file === undefined ? context.env : { ...context.env, CONFIG: file });
      if ('faults' in loaded) {
        throw new Failure(exitCode.badConfiguration, formatFaults(loaded.faults).trimEnd(), undefined, {
          faults: loaded.faults,
        });
      }
      const { config, warnings } = loaded;
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

function soon(warnings: readonly Fault[]): string {
  return ['Warnings:', ...warnings.map(({ where, detail }) => `  ${where}  ${detail}`)].join('\n');
}

function summary({ listen, internal, store, redisUrl, routes }: Config): string {
  const upstreams = routes.map(({ prefix, upstream }) => `  ${prefix} → ${upstream}`);
  return [
    `  public listener    ${listen.host}:${listen.port}${listen.tls === null ? '' : ' (TLS)'}`,
    `  internal listener  ${internal.host}:${internal.port}`,
    `  store              ${store.kind === 'embedded' ? `embedded, in ${store.dataDir}` : 'PostgreSQL'}`,
    `  Redis              ${redisUrl === null ? 'none' : 'yes'}`,
    `  operator API       ${internal.adminToken !== null || Object.keys(internal.adminTokens).length > 0 || store.kind === 'embedded' ? 'on' : 'off (no ADMIN_TOKEN)'}`,
    ...(upstreams.length === 0 ? ['  / → the built-in echo'] : upstreams),
  ].join('\n');
}
