import type { Config } from '../config.ts';
import { reportFigures } from '../ops/live/report-figures.ts';
import { systemClock } from '../ports/clock.ts';
import type { OpenListeners } from './listeners.ts';
import type { Services } from './services.ts';
import type { Stage, Stages } from './stages.ts';

/** Begins to report the figures of this process, which `GET /admin/v1/replicas` of every replica shows. */
export async function openFigures(
  { engine, store, timers, traffic, deps, collector }: Services,
  { applications, connections }: OpenListeners,
  stages: Stages<Stage>,
): Promise<void> {
  const state = () => {
    const underWay = applications.underWay();
    return {
      openStreams: (underWay.get('open') ?? 0) + (underWay.get('responding') ?? 0),
      openConnections: connections.public(),
      rssBytes: process.memoryUsage.rss(),
      redis: engine.redis(),
      certificateExpiresMs: expiryOf(applications.config),
    };
  };
  const { logger } = deps;
  collector.exchanges = applications;
  await stages.open(
    'figures',
    () =>
      reportFigures({
        ...{ store: store.figures, begun: engine.begun, replicaId: () => engine.replicaId(), traffic, state },
        onTails: (tails) => collector.learn(tails),
        // With several workers, each is a replica of its own, so it reports whether it can decide itself.
        unready: () => engine.unready(),
        ...{ clock: systemClock, timers, logger },
      }),
    (stop) => {
      collector.stop();
      // The counts of the last requests and the lease do not wait for this deletion. The store ends it when it closes.
      void stop();
    },
  );
}

function expiryOf({ certificates }: Pick<Config, 'certificates'>): number | null {
  return certificates.find(({ use }) => use === 'listener')?.notAfterMs ?? null;
}
