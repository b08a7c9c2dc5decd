/** What every board has to do on which replicas tell each other what they use of limits. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { LimitReport, ShareBoard } from '../../src/ports/limits/share-board.ts';

export async function shareBoardContract(t: Test, board: ShareBoard): Promise<void> {
  const newLimit = (): string => `sub_account:${randomUUID()}`;
  const report = (limit: string, given: Partial<LimitReport> = {}): LimitReport => ({
    ...{ limit, series: 1, used: 10, demand: 2.5, level: -3.25, share: 0.5 },
    ...given,
  });

  await t.test('a replica reads what the others said last of the limits that it reports', async (t) => {
    const [first, second] = [newLimit(), newLimit()];
    t.same((await board.exchange('a', [report(first), report(second)])).peers, []);
    await board.exchange('b', [report(first, { used: 1, level: 1e9 }), report(newLimit())]);
    await board.exchange('b', [report(first, { series: 2, used: 7, demand: 0 })]);
    const { peers } = await board.exchange('a', [report(first), report(second)]);
    t.equal(peers.length, 1);
    t.match(peers[0], { ...report(first, { series: 2, used: 7, demand: 0 }), replica: 'b' });
    t.same((await board.exchange('c', [report(first)])).peers.map(({ replica }) => replica).sort(), [
      'a',
      'b',
    ]);
  });

  await t.test('ages and the time are by one clock, which goes on', async (t) => {
    const limit = newLimit();
    const { nowMs: before } = await board.exchange('a', [report(limit)]);
    let reading = await board.exchange('b', [report(limit)]);
    while (reading.nowMs - before < 20) reading = await board.exchange('b', [report(limit)]);
    const age = reading.peers[0]?.ageMs ?? NaN;
    t.ok(Math.abs(age - (reading.nowMs - before)) <= 1, `${age} ms old after ${reading.nowMs - before}`);
  });

  await t.test('with nothing to report, it says that it can be reached, and its time', async (t) => {
    const { nowMs: before } = await board.exchange('a', [report(newLimit())]);
    const { nowMs, peers } = await board.exchange('a', []);
    t.ok(nowMs >= before, `${nowMs} after ${before}`);
    t.same(peers, []);
  });

  await t.test('numbers come back as they were given', async (t) => {
    const limit = newLimit();
    const given = report(limit, { used: 123_456_789_012, demand: 1 / 3, level: -0.1, share: 1 / 7 });
    await board.exchange('a', [given]);
    t.match((await board.exchange('b', [report(limit)])).peers[0], given);
  });

  await t.test('many limits, and many replicas at once', async (t) => {
    const limits = Array.from({ length: 500 }, newLimit);
    const names = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(
      names.map((name) =>
        board.exchange(
          name,
          limits.map((limit) => report(limit)),
        ),
      ),
    );
    const { peers } = await board.exchange(
      'a',
      limits.map((limit) => report(limit)),
    );
    t.equal(peers.length, 4 * limits.length);
    t.equal(new Set(peers.map(({ limit, replica }) => `${limit} ${replica}`)).size, peers.length);
  });
}
