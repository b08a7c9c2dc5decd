#!/usr/bin/env node
import { badConfigurationExitCode, formatFaults } from './config/fault.ts';
import { loadConfig } from './config/load.ts';
import { scrub } from './ops/describe-error.ts';
import { openLog } from './ops/logger.ts';
import { favourRequests } from './wiring/runtime.ts';
import { systemTimers } from './ports/timers.ts';
import { reloader } from './wiring/reload.ts';
import { startGateway, type RunningGateway } from './wiring/start.ts';
import { version } from './wiring/version.ts';
import { welcome } from './wiring/welcome.ts';

favourRequests();
const loaded = loadConfig(process.env);
if ('faults' in loaded) {
  process.stderr.write(formatFaults(loaded.faults, '; nothing was started'));
  process.exit(badConfigurationExitCode);
}
const { config } = loaded;
const log = openLog(config.log.level);
const { logger } = log;

process.on('uncaughtException', (error) => fail(error, 'unexpected error: the process ends'));
process.on('unhandledRejection', (reason) => fail(reason, 'unexpected error: the process ends'));

let gateway: RunningGateway | undefined;
let stopping = false;
const reload = reloader(process.env, logger);
const starting = startGateway(config, logger);
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
process.on('SIGHUP', hangUp);

logger.info({ version: version(), node: process.version, store: config.store.kind }, 'starting');
try {
  gateway = await starting;
  await gateway.begun;
  if (!stopping) {
    logger.info({ redis: config.redisUrl !== null }, 'ready');
    process.stdout.write(await welcome(gateway));
  }
} catch (error) {
  fail(error, 'the gateway cannot start');
}

/** The first signal drains; a second one, or the end of the time to drain, ends the process at once. */
function stop(signal: NodeJS.Signals): void {
  if (stopping) process.exit(1);
  stopping = true;
  if (gateway === undefined) return end(0);
  const { drainMs } = gateway.config;
  logger.info({ signal, drain_ms: drainMs }, 'draining');
  systemTimers.after(drainMs, () => {
    logger.warn('the time to drain is over');
    end(0);
  });
  gateway.stop().then(
    () => {
      logger.info('stopped');
      end(0);
    },
    (error: unknown) => fail(error, 'stopping failed'),
  );
}

/** Reads the file anew. Without a file to read, SIGHUP means that the terminal was closed: stop. */
function hangUp(signal: NodeJS.Signals): void {
  if (!process.env['CONFIG']) return stop(signal);
  // A gateway that is still starting may have read the file before it was changed.
  starting.then((gateway) => {
    if (!stopping) void reload(gateway);
  }, ignore);
}

function ignore(): void {
  /* The code that awaits the start says why it failed, and ends the process. */
}

function fail(error: unknown, message: string): void {
  logger.fatal({ err: error }, message);
  // For people who started it in a terminal: there the log may go elsewhere.
  if (error instanceof Error) process.stderr.write(`${message}: ${scrub(error.message)}\n`);
  end(1);
}

/** The last lines of the log say why the process ends: they are written before it does. */
function end(code: number): void {
  log.close(() => process.exit(code));
}
