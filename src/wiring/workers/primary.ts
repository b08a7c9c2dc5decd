import type { Config } from '../../config.ts';
import { redact } from '../../ops/redact.ts';
import type { Log, Logger } from '../../ops/logger.ts';
import { reloadMetrics } from '../../ops/config-metrics.ts';
import { counter, createRegistry, gauge } from '../../ops/metrics.ts';
import { systemClock } from '../../ports/clock.ts';
import { systemTimers } from '../../ports/timers.ts';
import { identity } from '../lifecycle.ts';
import { reloader } from '../reload.ts';
import { mustNotNeedRestart } from '../restart-needed.ts';
import { forker } from './fork.ts';
import type { Member } from './member.ts';
import type { FromWorker } from './messages.ts';
import { ReloadAll } from './reload-all.ts';
import { ScrapeAll } from './scrape-all.ts';
import { workerConfig } from './per-worker-config.ts';
import { Workers } from './workers.ts';

/** Milliseconds from the end of the drain time until workers that are still running are killed. */
const graceMs = 3_000;
const rarelyMs = 60_000;

/**
 * Runs `given.workers` processes that share the listeners. Each of them is a replica, but from the outside they look
 * like one process. Signals, configuration, readiness and metrics go through this process, which serves no requests
 * itself. Only this process reads the configuration, so all workers use the same configuration, and a fault in it is
 * logged only once.
 */
export function runPrimary(given: Config, env: NodeJS.ProcessEnv, log: Log): void {
  const { logger } = log;
  const [timers, clock] = [systemTimers, systemClock];
  // `SummedMetrics` hides the event-loop metrics of this process, so measuring them rarely is enough.
  const registry = createRegistry(rarelyMs);
  const restarts = counter(registry, 'worker_restarts_total', 'Workers that ended and were replaced.');
  // Ends the process once the last log lines are written.
  const end = (code: number): void => log.close(() => process.exit(code));
  let config = given;
  let stopping = false;
  let exitCode = 0;

  logger.info({ ...identity(), store: config.store.kind, workers: config.workers }, 'starting');
  const workers = new Workers({
    size: config.workers,
    config: () => workerConfig(config),
    fork: forker(),
    ...{ timers, clock, logger },
    onMessage: (from, message) => hear(from, message, { reloading, scraping }),
    onGone: gone,
    onReplaced: () => restarts.count(),
    onNeverStarted: end,
  });
  gauge(registry, 'workers', 'Workers that can decide.', () => workers.readyCount);
  const reloading = new ReloadAll(workers, timers);
  const scraping = new ScrapeAll(workers, registry, timers);
  const noteReload = reloadMetrics(registry, clock);
  const readAndReload = reloader(env, logger);
  endOnErrors(logger, () => {
    workers.kill();
    end(1);
  });
  onSignals(stop, (signal) => {
    if (!env['CONFIG']) return stop(signal);
    if (!stopping) void readAndReload({ reload, noteReload });
  });

  function gone(member: Member, code: number | null): void {
    reloading.gone(member);
    scraping.gone(member);
    if (!stopping) return;
    if (code !== 0) exitCode = 1;
    if (!workers.empty) return;
    logger.info('all workers have stopped');
    end(exitCode);
  }

  async function reload(wanted: Config): Promise<void> {
    mustNotNeedRestart(given, wanted);
    if (stopping) throw new Error('this process is about to end');
    await reloading.run(workerConfig(wanted), () => (config = wanted));
  }

  /** Drains all workers on the first signal. A second signal ends the workers and this process at once. */
  function stop(signal: NodeJS.Signals): void {
    if (stopping) {
      workers.kill();
      process.exit(1);
    }
    stopping = true;
    logger.info({ signal, drain_ms: config.drainMs }, 'draining all workers');
    workers.stop();
    if (workers.empty) return end(0);
    // Workers end on their own in time unless they hang.
    timers.after(config.drainMs + graceMs, () => killLate(workers, logger));
  }
}

/** Passes a worker's message on to whichever operation is waiting for it. */
function hear(from: Member, message: FromWorker, asked: { reloading: ReloadAll; scraping: ScrapeAll }): void {
  const { reloading, scraping } = asked;
  switch (message.kind) {
    case 'prepared':
      return reloading.prepared.answered(from, message.id, message.failure);
    case 'used':
      return reloading.used.answered(from, message.id, true);
    case 'counted':
      return scraping.counted(from, message.id, message.metrics);
    case 'hello':
    case 'state':
      // `Workers` handles these messages.
      return;
    case 'scrape':
      void scraping.text().then((text) => from.process.send({ kind: 'metrics', id: message.id, text }));
  }
}

function killLate(workers: Workers, logger: Logger): void {
  logger.warn('workers that did not end in time are killed');
  workers.kill();
}

function onSignals(stop: NodeJS.SignalsListener, hangUp: NodeJS.SignalsListener): void {
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', hangUp);
}

/** Logs an unexpected error, then ends the process. */
function endOnErrors(logger: Logger, end: () => void): void {
  const fail = (error: unknown): void => {
    const message = 'unexpected error: the process ends';
    logger.fatal({ err: error }, message);
    if (error instanceof Error) process.stderr.write(`${message}: ${redact(error.message)}\n`);
    end();
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}
