// class: pure
/** Look-ups of host names in virtual time: which are joined, and for how long an answer is remembered. */
import type { LookupAddress } from 'node:dns';
import t, { type Test } from 'tap';
import { Names, type Addresses } from '../../../src/proxy/upstream/names.ts';
import { everythingThatFollows, ManualTime } from '../../support/coherence/manual-time.ts';

interface Asked {
  readonly host: string;
  readonly answer: (ttlMs: number, ...addresses: string[]) => Promise<void>;
  /** Fails: there is no address, or nobody can tell. */
  readonly fail: (code?: string) => Promise<void>;
}

function names(t: Test) {
  const time = new ManualTime();
  const asked: Asked[] = [];
  const seen: [ms: number, isFound: boolean][] = [];
  const { lookup } = new Names({
    resolve: (host) =>
      new Promise<Addresses>((resolve, reject) => {
        const answer = (ttlMs: number, ...addresses: string[]): Promise<void> => {
          const of = (family: number) =>
            addresses
              .filter((each) => each.includes(':') === (family === 6))
              .map((address) => ({ address, family }));
          resolve({ families: [of(6), of(4)], ttlMs });
          return everythingThatFollows();
        };
        const fail = (code = 'ENOTFOUND'): Promise<void> => {
          reject(Object.assign(new Error(`${host} has no address`), { code }));
          return everythingThatFollows();
        };
        asked.push({ host, answer, fail });
      }),
    clock: time.clock,
    observe: (ms, isFound) => seen.push([ms, isFound]),
    report: (error) => t.error(error),
  });
  const results: string[] = [];
  /** Looks a name up; `results` gets its addresses, or the error. */
  const look = (host = 'a.test') =>
    lookup(host, { all: true }, (error, found) => {
      results.push(error?.message ?? (found as LookupAddress[]).map(({ address }) => address).join(' '));
    });
  const ask = (at: number): Asked => asked[at] as Asked;
  return { time, asked, ask, seen, results, look, lookup };
}

t.test('look-ups of a name are joined, and no name waits for another', async (t) => {
  const { time, asked, ask, seen, results, look } = names(t);
  for (let i = 0; i < 100; i++) look('slow.test');
  look('quick.test');
  t.same(
    asked.map(({ host }) => host),
    ['slow.test', 'quick.test'],
  );
  await ask(1).answer(0, '192.0.2.2');
  t.same(results, ['192.0.2.2']);
  await time.advance(9_000);
  await ask(0).answer(0, '192.0.2.1');
  t.equal(results.filter((each) => each === '192.0.2.1').length, 100);
  t.same(seen, [
    [0, true],
    [9_000, true],
  ]);
});

for (const { ttlMs, heldMs } of [
  { ttlMs: 0, heldMs: 1_000 },
  { ttlMs: 7_000, heldMs: 7_000 },
  { ttlMs: 86_400_000, heldMs: 30_000 },
  { ttlMs: null, heldMs: 1_000 },
])
  t.test(`what holds for ${ttlMs ?? 'no'} ms is remembered for ${heldMs} ms`, async (t) => {
    const { time, asked, ask, results, look } = names(t);
    look();
    await (ttlMs === null ? ask(0).fail() : ask(0).answer(ttlMs, '192.0.2.1'));
    await time.advance(heldMs - 1);
    look();
    await everythingThatFollows();
    t.equal(asked.length, 1);
    t.equal(results.length, 2);
    t.equal(results[0], results[1]);
    await time.advance(1);
    look();
    t.equal(asked.length, 2);
    await ask(1).answer(0, '192.0.2.9');
    t.equal(results[2], '192.0.2.9');
  });

t.test('while name servers cannot tell, the last addresses are used, for ten minutes', async (t) => {
  const { time, asked, ask, results, look } = names(t);
  look();
  await ask(0).answer(0, '192.0.2.1');
  await time.advance(1_000);
  look();
  await ask(1).fail('ESERVFAIL');
  t.same(results, ['192.0.2.1', '192.0.2.1']);
  await time.advance(1_000);
  look();
  look('b.test');
  await everythingThatFollows();
  t.equal(asked.length, 4, 'a look-up goes on');
  t.equal(results[2], '192.0.2.1', 'and nobody waits for it');
  await ask(2).answer(0, '192.0.2.2');
  look();
  await everythingThatFollows();
  t.equal(results[3], '192.0.2.2');
  await time.advance(1_000);
  look();
  await ask(4).fail();
  t.match(results[4], 'no address', 'a name that is gone is gone');
  await time.advance(1_000);
  look();
  await ask(5).fail('ESERVFAIL');
  t.match(results[5], 'no address', 'also if name servers cannot tell any longer');
  for (const [host, isDoubtful] of [
    ['c.test', false],
    ['d.test', true],
  ] as const) {
    look(host);
    await asked.at(-1)?.answer(0, '192.0.2.3');
    await time.advance(1_000);
    if (isDoubtful) {
      look(host);
      await asked.at(-1)?.fail('ESERVFAIL');
    }
    await time.advance(600_000);
    look(host);
    await everythingThatFollows();
    await asked.at(-1)?.fail('ECANCELLED');
    t.match(results.at(-1), 'no address');
  }
});

t.test('the addresses of a name take turns, and its families keep their order', async (t) => {
  const { ask, results, look } = names(t);
  for (let i = 0; i < 3; i++) look();
  await ask(0).answer(5_000, '192.0.2.1', '192.0.2.2', '2001:db8::1');
  t.same(results, [
    '2001:db8::1 192.0.2.1 192.0.2.2',
    '2001:db8::1 192.0.2.2 192.0.2.1',
    '2001:db8::1 192.0.2.1 192.0.2.2',
  ]);
});

t.test('one address for those who ask for one', async (t) => {
  const { ask, lookup } = names(t);
  const result = new Promise((resolve) => lookup('a.test', {}, (...found) => resolve(found)));
  await ask(0).answer(0, '192.0.2.1');
  t.same(await result, [null, '192.0.2.1', 4]);
});

t.test('who has left is not called', async (t) => {
  const { ask, results, look } = names(t);
  const leave = look();
  look();
  leave();
  await ask(0).answer(0, '192.0.2.1');
  t.equal(results.length, 1);
});
