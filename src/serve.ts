import type { Config } from './config.ts';
import { badConfigurationExitCode, formatFaults } from './config/fault.ts';
import { loadConfig } from './config/load.ts';
import { openLog, type Log } from './ops/logger.ts';
import { identity, Lifecycle } from './wiring/lifecycle.ts';
import { favourRequests } from './wiring/runtime.ts';
import { reloader, warn } from './wiring/reload.ts';
import { startGateway } from './wiring/start.ts';
import { missingV8Flags } from './wiring/v8-flags.ts';

favourRequests();
const loaded = loadConfig(process.env, { datesOfCertificates: 'warning' });
if ('faults' in loaded) {
  process.stderr.write(formatFaults(loaded.faults, '; nothing was started'));
  process.exit(badConfigurationExitCode);
}
const { config } = loaded;
const log = openLog(config.log.level);
warn(log.logger, loaded.warnings);
const missing = missingV8Flags();
if (missing.length > 0)
  log.logger.warn(
    { flags: missing.join(' ') },
    'Node.js runs without flags, and the process takes up to twice the memory: node <flags> dist/main.js',
  );
if (config.workers === 1) await serve(config, log);
else {
  // Loaded only if there are several workers, because a single process needs no primary.
  const { runPrimary } = await import('./wiring/workers/primary.ts');
  runPrimary(config, process.env, log);
}

/** Runs the gateway in this process. */
async function serve(config: Config, log: Log): Promise<void> {
  const { logger } = log;
  const life = new Lifecycle(log);
  const reload = reloader(process.env, logger);
  const starting = startGateway(config, logger);
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', hangUp);
  logger.info({ ...identity(), store: config.store.kind }, 'starting');
  await life.run(starting);

  /** Drains on the first signal; a second signal, or the end of the drain time, ends the process at once. */
  function stop(signal: NodeJS.Signals): void {
    if (life.stopping) process.exit(1);
    life.stop(signal);
  }

  /** Reloads the configuration file. If there is none, SIGHUP means a closed terminal, so the gateway stops. */
  function hangUp(signal: NodeJS.Signals): void {
    if (!process.env['CONFIG']) return stop(signal);
    // A gateway that is still starting may have read the configuration file before the change. So the reload waits
    // until the gateway has started.
    starting.then((gateway) => {
      if (!life.stopping) void reload(gateway);
    }, ignore);
  }
}

function ignore(): void {
  /* The code that awaits the start logs the failure and ends the process. */
}
