import { cells } from '../../test/e2e/faults/support/cells.ts';
import { History } from '../../test/e2e/faults/support/history.ts';
import { Prober } from '../../test/e2e/faults/support/prober.ts';
import { RunEnded, Tenants } from '../../test/e2e/faults/support/tenants.ts';
import { Random } from '../../test/support/coherence/random.ts';
import type { Promised } from './figures.ts';
import type { Gateway } from './environment.ts';

/** Leaves the processor to the load. */
const pauseMs = 20;
/** Revoked keys and deactivated sub-accounts: the rest needs an upstream that tells what it was told. */
const watchedCells = cells.slice(0, 2);

/** Tenants that change meanwhile, and the history of the fault tests, which checks every decision about them. */
export function watch(gateways: readonly Gateway[]): { end(): Promise<Promised[]> } {
  const [random, history] = [new Random(1), new History()];
  let ended = false;
  const stopped = (): boolean => ended;
  const prober = new Prober(gateways, history, random, stopped);
  const tenants = new Tenants(gateways, random, stopped);
  const nothingMore = { openStreams: null, byHand: null };
  const parts = { tenants, history, random, stopped, burst: prober.burst.bind(prober), ...nothingMore };
  const running = Promise.all([
    prober.run(1, pauseMs),
    ...watchedCells.map((cell, i) => cell(parts, (probes) => prober.show(i, probes)).catch(ignoreEnd)),
  ]);
  return {
    end: async () => {
      ended = true;
      await running;
      history.close();
      const { decisions, stale, odd, mutationMs } = history;
      return [
        {
          what: 'no decision rests on the state before a 2xx',
          seen: `${stale.length} stale in ${decisions} decisions about ${mutationMs.length} changes`,
          kept: stale.length === 0 && decisions > 0,
        },
        { what: 'no other responses', seen: `${odd.length} ${odd[0] ?? ''}`, kept: odd.length === 0 },
      ];
    },
  };
}

function ignoreEnd(error: unknown): void {
  if (!(error instanceof RunEnded)) throw error;
}
