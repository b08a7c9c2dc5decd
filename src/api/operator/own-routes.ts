import type { TypedApp } from '../rest/typebox.ts';
import { explainRoute, type ExplainDeps } from './explain.ts';
import { replicasRoute, type ReplicasDeps } from './replicas.ts';
import { whoamiRoute, type WhoamiDeps } from './whoami.ts';

/** Operations about this gateway itself: what it would decide, its replicas, and which one it is. */
export function ownRoutes(app: TypedApp, deps: ExplainDeps & ReplicasDeps & WhoamiDeps): void {
  explainRoute(app, deps);
  replicasRoute(app, deps);
  whoamiRoute(app, deps);
}
