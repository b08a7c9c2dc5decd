import type { Fault } from '../config/fault.ts';
import { loading } from '../config/load.ts';
import type { Logger } from '../ops/logger.ts';
import { inTurns, nextTurn } from '../ports/timers.ts';
import { KeyPrefixTaken } from './key-prefix.ts';
import { NeedsRestart } from './restart-needed.ts';
import type { RunningGateway } from './start.ts';

type Reloaded = Pick<RunningGateway, 'reload' | 'noteReload'>;

/** Logs the warnings about a valid configuration. */
export function warn(logger: Pick<Logger, 'warn'>, warnings: readonly Fault[]): void {
  for (const { where, detail } of warnings) logger.warn({ where }, `the configuration: ${detail}`);
}

/**
 * Makes the function that reloads a gateway's configuration, all or nothing. It logs the outcome and every fault.
 *
 * Only one reload runs at a time. All calls during a reload share one further reload. The further reload reads the file
 * after the running reload has finished, in a turn of the event loop of its own: signals that arrived meanwhile come one
 * by one in the turn before.
 */
export function reloader(env: NodeJS.ProcessEnv, logger: Logger): (gateway: Reloaded) => Promise<void> {
  let reading = Promise.resolve();
  let next: Promise<void> | undefined;
  return (gateway) =>
    (next ??= reading.then(nextTurn).then(() => {
      next = undefined;
      return (reading = reload(gateway, env, logger));
    }));
}

async function reload(gateway: Reloaded, env: NodeJS.ProcessEnv, logger: Logger): Promise<void> {
  let successful = false;
  try {
    const loaded = await inTurns(loading(env));
    if ('faults' in loaded) {
      logger.error({ faults: loaded.faults }, `${rejected} it has faults`);
      return;
    }
    const { config, warnings } = loaded;
    await gateway.reload(config);
    successful = true;
    warn(logger, warnings);
    logger.info({ routes: config.routes.map(({ prefix }) => prefix) }, 'the configuration was reloaded');
  } catch (error) {
    if (error instanceof NeedsRestart || error instanceof KeyPrefixTaken)
      logger.error(`${rejected} ${error.message}`);
    else logger.error({ err: error }, `${rejected} it cannot be used`);
  } finally {
    gateway.noteReload(successful);
  }
}

const rejected = 'the configuration was not reloaded, and the previous one stays in use:';
