import { redact } from '../ops/redact.ts';
import type { Log } from '../ops/logger.ts';
import { systemTimers } from '../ports/timers.ts';
import { badConfigurationExitCode } from '../config/fault.ts';
import { UnusableDatabase } from '../adapters/postgres/schema/applied.ts';
import { KeyPrefixTaken } from './key-prefix.ts';
import type { RunningGateway } from './start.ts';
import { version } from './version.ts';
import { welcome } from './welcome.ts';

/** Runs a serving process from start to exit. */
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

  /** Waits until the gateway is ready. If it cannot start, logs the cause and ends the process. */
  async run(starting: Promise<RunningGateway>): Promise<void> {
    try {
      const { config, begun } = (this.#gateway = await starting);
      await begun;
      if (this.#stopping) return;
      this.#log.logger.info({ redis: config.redis.url !== null }, 'ready');
      process.stdout.write(await welcome(this.#gateway));
    } catch (error) {
      this.fail(error, 'the gateway cannot start');
    }
  }

  /**
   * Drains the gateway, then ends the process, at the latest after `drainMs`. The exit code is 1 if something did not
   * finish in time.
   */
  stop(signal: NodeJS.Signals): void {
    this.#stopping = true;
    if (this.#gateway === undefined) return this.#end(0);
    const { logger } = this.#log;
    const { drainMs } = this.#gateway.config;
    logger.info({ signal, drain_ms: drainMs }, 'draining');
    systemTimers.after(drainMs, () => {
      logger.warn('the time to drain is over');
      this.#end(1);
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
    // The message also goes to stderr, so that it shows in a terminal even if the log goes elsewhere.
    if (error instanceof Error) process.stderr.write(`${message}: ${redact(error.message)}\n`);
    const isFinal = error instanceof KeyPrefixTaken || error instanceof UnusableDatabase;
    this.#end(isFinal ? badConfigurationExitCode : 1);
  }

  /** Ends the process once its last log lines are written, because those lines say why the process ends. */
  #end(code: number): void {
    this.#log.close(() => process.exit(code));
  }
}

/** Returns the versions of the gateway and of Node.js. Every process puts them in its first log line. */
export function identity(): { readonly version: string; readonly node: string } {
  return { version: version(), node: process.version };
}
