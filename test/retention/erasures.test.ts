// class: pure
import t from 'tap';
import type { AccountId } from '../../src/domain/ids.ts';
import type { Erasure, ErasureBatch } from '../../src/ports/erasures.ts';
import { eraseDeleted } from '../../src/retention/erasures.ts';
import { eraseAddresses } from '../../src/retention/events.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';

const minute = 60_000;
const erasure: Erasure = {
  accountId: 'a' as AccountId,
  parentId: null,
  deletedAt: new Date(0),
  erasedAt: null,
  accounts: 1,
  apiKeys: 2,
  events: 3,
  idempotencyRecords: 0,
};

t.test('deleted accounts are erased batch by batch, a failed batch in smaller ones', async (t) => {
  const time = new ManualTime();
  const asked: ErasureBatch[] = [];
  const lines: object[] = [];
  const away = new Error('away');
  const responses = [erasure, away, away, away, erasure, away, { ...erasure, erasedAt: new Date(1) }];
  let batches = 0;
  const stop = eraseDeleted({
    erasures: {
      async run(batch) {
        asked.push(batch);
        const response = responses.shift() ?? null;
        if (response instanceof Error) throw response;
        return response;
      },
    },
    timers: time.timers,
    logger: { info: (fields) => lines.push(fields) },
    onBatch: () => (batches += 1),
  });
  await time.advance(1);
  t.match(asked[0], { settledMs: minute }, 'changes from before a deletion have ended');
  t.same(
    asked.map(({ most }) => most),
    [500, 500, 100, 20],
    'then not before the next round',
  );
  await time.advance(5 * minute);
  t.same(
    asked.slice(4).map(({ most }) => most),
    [500, 500, 100, 100],
  );
  t.equal(batches, 3);
  t.same(lines, [{ account_id: 'a', accounts: 1, api_keys: 2, events: 3 }], 'ids and counts');
  stop();
  await time.advance(60 * minute);
  t.equal(asked.length, 8);
});

t.test('addresses go in portions until none is old enough, and again later', async (t) => {
  const time = new ManualTime();
  const portions = [1_000, 1_000, 3];
  let asked = 0;
  const stop = eraseAddresses({
    erasures: {
      async eraseAddresses({ days, most }) {
        t.match([days, most], [90, 1_000]);
        asked += 1;
        return portions.shift() ?? 0;
      },
    },
    days: 90,
    clock: time.clock,
    timers: time.timers,
  });
  await time.advance(1);
  t.equal(asked, 3);
  await time.advance(10 * minute);
  t.equal(asked, 4);
  stop();
});
