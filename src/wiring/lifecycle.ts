import { scrub } from '../ops/describe-error.ts';
import type { Log } from '../ops/logger.ts';
import { systemTimers } from '../ports/timers.ts';
import type { RunningGateway } from './start.ts';
import { version } from './version.ts';
import { welcome } from './welcome.ts';

/** A process that serves, from its start to its end. */
export class Lifecycle {
  readonly #log: Log;
  #gateway: RunningGateway | undefined;
  #stopping = false;

  constructor(log: Log) {
    this.#log = log;
    process.on('uncaughtException', (error) => this.fail(error, 'unexpected error: the process ends'));
    process.on('unhandledRejection', (reason) => this.fail(reason, 'unexpected error: the process ends'));
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Goes on until it decides; where it cannot start, the process ends and the log says why. */
  async run(starting: Promise<RunningGateway>): Promise<void> {
    try {
      const { config, begun } = (this.#gateway = await starting);
      await begun;
      if (this.#stopping) return;
      this.#log.logger.info({ redis: config.redisUrl !== null }, 'ready');
      process.stdout.write(await welcome(this.#gateway));
    } catch (error) {
      this.fail(error, 'the gateway cannot start');
    }
  }

  /** Drains and ends the process, at the latest when the time to drain is over. */
  stop(signal: NodeJS.Signals): void {
    this.#stopping = true;
    if (this.#gateway === undefined) return this.#end(0);
    const { logger } = this.#log;
    const { drainMs } = this.#gateway.config;
    logger.info({ signal, drain_ms: drainMs }, 'draining');
    systemTimers.after(drainMs, () => {
      logger.warn('the time to drain is over');
      this.#end(0);
    });
    this.#gateway.stop().then(
      () => {
        logger.info('stopped');
        this.#end(0);
      },
      (error: unknown) => this.fail(error, 'stopping failed'),
    );
  }

  fail(error: unknown, message: string): void {
    this.#log.logger.fatal({ err: error }, message);
    // For people who started it in a terminal: there the log may go elsewhere.
    if (error instanceof Error) process.stderr.write(`${message}: ${scrub(error.message)}\n`);
    this.#end(1);
  }

  /** The last lines of the log say why the process ends: they are written before it does. */
  #end(code: number): void {
    this.#log.close(() => process.exit(code));
  }
}

/** What every process says of itself first. */
export function identity(): { readonly version: string; readonly node: string } {
  return { version: version(), node: process.version };
}
