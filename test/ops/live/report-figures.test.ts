// class: pure
import t from 'tap';
import { reportFigures } from '../../../src/ops/live/report-figures.ts';
import type { FigureStore, ReplicaFigures } from '../../../src/ports/replica-figures.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';

/** A replica that reports to a store which a test can take away. */
function reporting() {
  const time = new ManualTime();
  const stored = new Map<string, ReplicaFigures>();
  const warnings: string[] = [];
  const [begun, begin] = started();
  const state = { away: false, replica: null as string | null, reports: 0, pruned: 0 };
  const store: FigureStore = {
    report: async (replica, figures, prune) => {
      state.reports += 1;
      if (state.away) throw new Error('away');
      if (prune) state.pruned += 1;
      stored.set(replica, figures);
      return [];
    },
    remove: async (replica) => {
      if (state.away) throw new Error('away');
      stored.delete(replica);
    },
  };
  const stop = reportFigures({
    store,
    onTails: () => undefined,
    begun,
    replicaId: () => state.replica,
    traffic: () => ({ requests: 0, durations: [], refusals: new Map() }),
    unready: () => (state.away ? [{ reason: 'lease_lapsed', detail: 'x' }] : []),
    state: () => ({
      openStreams: 1,
      openConnections: 2,
      rssBytes: 3,
      redis: 'off',
      certificateExpiresMs: null,
    }),
    clock: time.clock,
    timers: time.timers,
    logger: { warn: (_fields, message) => void warnings.push(message) },
  });
  return { time, state, stored, warnings, stop, begin };
}

function started(): [begun: Promise<void>, begin: () => void] {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  return [begun, begin];
}

t.test('a replica reports every five seconds once it has started, until it ends', async (t) => {
  const { time, state, stored, stop, begin } = reporting();
  state.replica = 'r';
  await time.advance(20_000);
  t.equal(state.reports, 0, 'nothing before it has started');
  begin();
  await time.advance(59_000);
  t.equal(state.reports, 12);
  t.equal(state.pruned, 1, 'old figures are deleted once a minute');
  t.match(stored.get('r'), { ready: true, unready: [], openStreams: 1, openConnections: 2, rssBytes: 3 });
  await stop();
  t.equal(stored.size, 0);
  await time.advance(60_000);
  t.equal(state.reports, 12);
});

t.test('a store that is away is logged once a minute, and reports go on when it is back', async (t) => {
  const { time, state, stored, warnings, stop, begin } = reporting();
  Object.assign(state, { replica: 'r', away: true });
  begin();
  await time.advance(64_000);
  t.equal(warnings.length, 2, `${state.reports} reports`);
  state.away = false;
  await time.advance(5_000);
  t.match(stored.get('r'), { ready: true });
  state.away = true;
  await stop();
});
