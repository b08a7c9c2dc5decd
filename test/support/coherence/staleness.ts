/** The checker of histories: finds decisions by a state that was no longer enforced when they began. */

/** The value of a change whose outcome was never learnt. */
export const anything = Symbol('anything');

/** A change of one object, in the order in which the changes took effect. */
export interface Change {
  readonly object: string;
  readonly value: unknown;
  /** When it was asked for. Any unit, as long as all times of a history are of one clock. */
  readonly invoked: number;
  /** When its 2xx came; `null` where it never did: then it may have taken effect or not. */
  readonly responded: number | null;
}

/** What one request showed about an object. */
export interface Observation {
  readonly object: string;
  readonly value: unknown;
  readonly began: number;
  readonly ended: number;
  /** For the report: which replica, which request. */
  readonly by: string;
}

export interface Stale {
  readonly observation: Observation;
  /** The change that was enforced when the request began. */
  readonly enforced: Change;
}

/**
 * Observations that show neither the state of the last change that got its 2xx before they began, nor that of a later one.
 *
 * @param changes per object in the order of effect; the first of each object is its first state
 */
export function findStale(changes: readonly Change[], observations: readonly Observation[]): Stale[] {
  const perObject = new Map<string, Change[]>();
  for (const change of changes) {
    const history = perObject.get(change.object);
    if (history === undefined) perObject.set(change.object, [change]);
    else history.push(change);
  }
  return observations.flatMap((observation) => {
    const enforced = contradicted(perObject.get(observation.object) ?? [], observation);
    return enforced === undefined ? [] : [{ observation, enforced }];
  });
}

/**
 * The change that was enforced when the request began and that, with all later ones, it does not show; `undefined`
 * where the observation is as it should be.
 *
 * @param history changes of the object it is of
 */
export function contradicted(
  history: readonly Change[],
  { began, ended, value: shown }: Observation,
): Change | undefined {
  const from = history.findLastIndex(({ responded }) => responded !== null && responded < began);
  const enforced = history[from];
  if (enforced === undefined) return undefined;
  const explained = history
    .slice(from)
    .some(({ invoked, value }) => invoked < ended && (value === shown || value === anything));
  return explained ? undefined : enforced;
}
