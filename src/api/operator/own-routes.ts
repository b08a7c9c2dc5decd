import type { TypedApp } from '../rest/typebox.ts';
import { explainRoute, type ExplainDeps } from '../explain/explain.ts';
import { replicasRoute, type ReplicasDeps } from './replicas.ts';
import { whoamiRoute, type WhoamiDeps } from './whoami.ts';

/** Adds the operations about this gateway itself: explanations, the list of replicas, and whoami. */
export function ownRoutes(app: TypedApp, deps: ExplainDeps & ReplicasDeps & WhoamiDeps): void {
  explainRoute(app, deps);
  replicasRoute(app, deps);
  whoamiRoute(app, deps);
}
