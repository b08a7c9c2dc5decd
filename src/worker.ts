import { openLog } from './ops/logger.ts';
import { identity, Lifecycle } from './wiring/lifecycle.ts';
import { favourRequests } from './wiring/runtime.ts';
import { startGateway } from './wiring/start.ts';
import { shutdownOrder, Stages, type Stage } from './wiring/stages.ts';
import { PrimaryLink } from './wiring/workers/primary-link.ts';

// This process is a worker: one of several with the same listeners. Only the primary (src/wiring/workers) starts it.
favourRequests();
/** Called when this worker has to drain. Before the worker has started, it has nothing to drain and just ends. */
let stop = (): void => process.exit(0);
const link = new PrimaryLink({ stop: () => stop() });
// SIGHUP is ignored: terminals and some supervisors signal whole process groups, and only the primary may reload.
process.on('SIGHUP', () => undefined);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop());

const { config, slot } = await link.begin();
const log = openLog(config.log.level, 1, slot);
const { logger } = log;
const life = new Lifecycle(log);
stop = () => {
  if (!life.stopping) life.stop('SIGTERM');
};
const stages = new Stages<Stage>(shutdownOrder, (step, stage) => logger.debug({ stage }, step));
const starting = startGateway(config, logger, stages, link);
logger.info({ ...identity(), pid: process.pid }, 'a worker is starting');
starting.then(
  (gateway) => link.serving(gateway),
  () => undefined,
);
await life.run(starting);
