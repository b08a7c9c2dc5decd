import type { Portion } from './portion.ts';
import type { WaitingParts } from './waiting-request.ts';

/**
 * Tells the stores of these portions what this replica has spent, and then calls `told`. Also calls it if a
 * store does not answer in time. The stores hear of it later then.
 *
 * @returns `true` if there is nothing to wait for, so that `told` is not called: no portions, or unreachable stores
 */
export function tellStores(
  portions: readonly Portion[],
  { questionsOf, timers, nowMs }: Omit<WaitingParts, 'replicas'>,
  told: () => void,
): boolean {
  let [open, waitMs] = [0, 0];
  let callOff = (): void => undefined;
  const end = (): void => {
    open -= 1;
    if (open !== 0) return;
    callOff();
    told();
  };
  for (const portion of portions) {
    const questions = questionsOf(portion);
    if (questions.isAway(portion, nowMs())) continue;
    open += 1;
    waitMs = Math.max(waitMs, questions.waitMs(portion));
    portion.whenTold(end);
    questions.ask(portion);
  }
  if (open === 0) return true;
  callOff = timers.after(waitMs, () => {
    if (open <= 0) return;
    open = 0;
    told();
  });
  return false;
}
