import t from 'tap';
import { Turns, type Turn } from '../../src/domain/turns.ts';

function turnsOf(...things: readonly (readonly [tenant: string, thing: number])[]): Turns<number> {
  const turns = new Turns<number>();
  for (const [tenant, thing] of things) turns.add(tenant, thing);
  return turns;
}

function things(turn: Turn<number> | undefined): readonly number[] {
  return turn?.things ?? [];
}

function takeAll(turns: Turns<number>, most: number): (readonly number[])[] {
  const taken: (readonly number[])[] = [];
  while (turns.size > 0) taken.push(things(turns.take(most)));
  return taken;
}

t.test('a tenant with one thing waiting is served second, however many another has', (t) => {
  const turns = turnsOf(...Array.from({ length: 1_000 }, (_, i) => ['loud', i] as const), ['quiet', -1]);
  t.same(turns.take(1), { tenant: 'loud', things: [0] });
  t.same(turns.take(1), { tenant: 'quiet', things: [-1] });
  t.same(turns.take(1), { tenant: 'loud', things: [1] });
  t.equal(turns.sizeOf('loud'), 998);
  t.equal(turns.size, 998);
  t.end();
});

t.test('tenants go round in the order in which they began to wait', (t) => {
  const turns = turnsOf(['a', 1], ['a', 2], ['b', 3], ['c', 4], ['b', 5], ['a', 6]);
  t.same(takeAll(turns, 1), [[1], [3], [4], [2], [5], [6]]);
  t.equal(turns.take(1), undefined);
  t.end();
});

t.test('a turn is for as many things as is said, of one tenant', (t) => {
  t.same(takeAll(turnsOf(['a', 1], ['a', 2], ['b', 3], ['a', 4]), 2), [[1, 2], [3], [4]]);
  t.end();
});

t.test('a tenant that may not take its turn yet keeps its place', (t) => {
  const turns = turnsOf(['a', 1], ['b', 2], ['c', 3], ['b', 4]);
  const notA = (tenant: string): boolean => tenant !== 'a';
  t.same(things(turns.take(1, notA)), [2]);
  t.same(things(turns.take(1)), [1]);
  t.equal(
    turns.take(1, () => false),
    undefined,
  );
  t.same(things(turns.take(1)), [3]);
  t.end();
});

t.test('a tenant whose turn has ended goes behind those that have waited meanwhile', (t) => {
  const turns = turnsOf(['a', 1], ['a', 2], ['b', 3], ['c', 4]);
  turns.moveBack('a');
  turns.moveBack('nothing waits for it');
  t.same(takeAll(turns, 1), [[3], [4], [1], [2]]);
  t.end();
});

t.test('what waits no longer is passed over', (t) => {
  const turns = turnsOf(['a', 1], ['b', 2], ['a', 3]);
  turns.remove('a', 1);
  turns.remove('b', 2);
  turns.remove('b', 2);
  turns.remove('nothing waits for it', 1);
  t.equal(turns.size, 1);
  t.same(takeAll(turns, 1), [[3]]);
  t.end();
});

t.test(
  'whose turn it is can be asked before anything is taken; what is taken then leaves the turns as they are',
  (t) => {
    const turns = turnsOf(['a', 1], ['a', 2], ['b', 3], ['c', 4]);
    t.equal(
      turns.next((tenant) => tenant !== 'a'),
      'b',
    );
    t.equal(turns.takeFrom('b'), 3);
    t.equal(turns.takeFrom('b'), undefined);
    t.equal(turns.next(), 'a');
    t.equal(turns.takeFrom('a'), 1);
    t.same([turns.size, turns.sizeOf('a'), turns.sizeOf('b')], [2, 1, 0]);
    t.same(takeAll(turns, 1), [[4], [2]]);
    t.equal(turns.next(), undefined);
    t.end();
  },
);

t.test('what has waited for too long is taken of every tenant, and the rest keeps its order', (t) => {
  const turns = turnsOf(['a', 1], ['a', 6], ['a', 2], ['b', 7], ['c', 3]);
  t.same(
    turns.takeWhile((thing) => thing < 5),
    [1, 3],
  );
  t.equal(turns.size, 3);
  t.same(takeAll(turns, 1), [[6], [7], [2]]);
  t.end();
});
