import { explainRoute, type ExplainDeps } from '../explain/explain.ts';
import { limitsRoute, type LimitsDeps } from './limits.ts';
import { liveRoute, type LiveDeps } from './live.ts';
import { replicasRoute, type ReplicasDeps } from './replicas.ts';
import { whoamiRoute, type WhoamiDeps } from './whoami.ts';
import type { OperatorApp } from './operator-token.ts';

/** Adds the operations about this gateway itself: explanations, limits as they stand, the live tail, the list of replicas, and whoami. */
export function ownRoutes(
  app: OperatorApp,
  deps: ExplainDeps & LimitsDeps & LiveDeps & ReplicasDeps & WhoamiDeps,
): void {
  explainRoute(app, deps);
  limitsRoute(app, deps);
  replicasRoute(app, deps);
  liveRoute(app, deps);
  whoamiRoute(app, deps);
}
