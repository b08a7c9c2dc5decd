// class: pure
import t from 'tap';
import { RoundRobin, type Turn } from '../../src/domain/round-robin.ts';

function queueOf(...things: readonly (readonly [tenant: string, thing: number])[]): RoundRobin<number> {
  const queue = new RoundRobin<number>();
  for (const [tenant, thing] of things) queue.add(tenant, thing);
  return queue;
}

function things(turn: Turn<number> | undefined): readonly number[] {
  return turn?.things ?? [];
}

function takeAll(queue: RoundRobin<number>, most: number): (readonly number[])[] {
  const taken: (readonly number[])[] = [];
  while (queue.size > 0) taken.push(things(queue.take(most)));
  return taken;
}

t.test('a tenant with one thing waiting is served second, however many another has', (t) => {
  const queue = queueOf(...Array.from({ length: 1_000 }, (_, i) => ['loud', i] as const), ['quiet', -1]);
  t.same(queue.take(1), { tenant: 'loud', things: [0] });
  t.same(queue.take(1), { tenant: 'quiet', things: [-1] });
  t.same(queue.take(1), { tenant: 'loud', things: [1] });
  t.equal(queue.sizeOf('loud'), 998);
  t.equal(queue.size, 998);
  t.end();
});

t.test('tenants go round in the order in which they began to wait', (t) => {
  const queue = queueOf(['a', 1], ['a', 2], ['b', 3], ['c', 4], ['b', 5], ['a', 6]);
  t.same(takeAll(queue, 1), [[1], [3], [4], [2], [5], [6]]);
  t.equal(queue.take(1), undefined);
  t.end();
});

t.test('a turn is for as many things as is said, of one tenant', (t) => {
  t.same(takeAll(queueOf(['a', 1], ['a', 2], ['b', 3], ['a', 4]), 2), [[1, 2], [3], [4]]);
  t.end();
});

t.test('a tenant that may not take its turn yet keeps its place', (t) => {
  const queue = queueOf(['a', 1], ['b', 2], ['c', 3], ['b', 4]);
  const notA = (tenant: string): boolean => tenant !== 'a';
  t.same(things(queue.take(1, notA)), [2]);
  t.same(things(queue.take(1)), [1]);
  t.equal(
    queue.take(1, () => false),
    undefined,
  );
  t.same(things(queue.take(1)), [3]);
  t.end();
});

t.test('a tenant whose turn has ended goes behind those that have waited meanwhile', (t) => {
  const queue = queueOf(['a', 1], ['a', 2], ['b', 3], ['c', 4]);
  queue.moveBack('a');
  queue.moveBack('nothing waits for it');
  t.same(takeAll(queue, 1), [[3], [4], [1], [2]]);
  t.end();
});

t.test('what waits no longer is passed over', (t) => {
  const queue = queueOf(['a', 1], ['b', 2], ['a', 3]);
  queue.remove('a', 1);
  queue.remove('b', 2);
  queue.remove('b', 2);
  queue.remove('nothing waits for it', 1);
  t.equal(queue.size, 1);
  t.same(takeAll(queue, 1), [[3]]);
  t.end();
});

t.test(
  'whose turn it is can be asked before anything is taken; what is taken then leaves the queue as they are',
  (t) => {
    const queue = queueOf(['a', 1], ['a', 2], ['b', 3], ['c', 4]);
    t.equal(
      queue.next((tenant) => tenant !== 'a'),
      'b',
    );
    t.equal(queue.takeFrom('b'), 3);
    t.equal(queue.takeFrom('b'), undefined);
    t.equal(queue.next(), 'a');
    t.equal(queue.takeFrom('a'), 1);
    t.same([queue.size, queue.sizeOf('a'), queue.sizeOf('b')], [2, 1, 0]);
    t.same(takeAll(queue, 1), [[4], [2]]);
    t.equal(queue.next(), undefined);
    t.end();
  },
);

t.test('what has waited for too long is taken of every tenant, and the rest keeps its order', (t) => {
  const queue = queueOf(['a', 1], ['a', 6], ['a', 2], ['b', 7], ['c', 3]);
  t.same(
    queue.takeWhile((thing) => thing < 5),
    [1, 3],
  );
  t.equal(queue.size, 3);
  t.same(takeAll(queue, 1), [[6], [7], [2]]);
  t.end();
});
