// class: pure
import fc from 'fast-check';
import t from 'tap';
import type { HoldsFor } from '../../src/http/client-request.ts';
import { HeldBytes, type HeldConnection } from '../../src/limits/held-bytes.ts';

const budget = 1_000;
const most = (17 / 16) * budget;

/** A connection whose bytes, if it is cut, are noted beside the share that its holder had then. */
interface Connection extends HeldConnection {
  isCut: boolean;
}

function connectionOf(holdsFor: string | null, network = ''): Connection {
  const connection: Connection = {
    ...{ counted: 0, countsAsStranger: false, holdsFor: holdsFor as HoldsFor | null, network, isCut: false },
    cut: () => (connection.isCut = true),
  };
  return connection;
}

function budgetFor(...connections: Connection[]): HeldBytes {
  const held = new HeldBytes(budget);
  held.add(connections);
  return held;
}

t.test('whoever holds most is cut, the largest connection first, and only as far as needed', (t) => {
  const connections = ['a', 'a', 'a', 'b'].map((who) => connectionOf(who));
  const held = budgetFor(...connections);
  const cuts = (): boolean[] => connections.map(({ isCut }) => isCut);
  for (const [i, bytes] of [100, 400, 300, 262].entries()) held.count(connections[i] as Connection, bytes);
  t.same(cuts(), [false, false, false, false], 'a sixteenth above the budget');
  held.count(connections[0] as Connection, 101);
  t.same(cuts(), [false, true, false, false]);
  t.same(held.held, { callers: 663, strangers: 0 });
  t.end();
});

t.test('strangers have a quarter together, and each network an equal share of it', (t) => {
  const caller = connectionOf('a');
  const [one, two, other] = [connectionOf(null, '::1'), connectionOf(null, '::1'), connectionOf(null, '::2')];
  const held = budgetFor(caller, one, two, other);
  held.count(caller, 600);
  held.count(other, 100);
  held.count(one, 150);
  held.count(two, 80);
  t.same(
    [caller, one, two, other].map(({ isCut }) => isCut),
    [false, true, false, false],
  );
  t.same(held.held, { callers: 600, strangers: 180 });
  t.end();
});

t.test('a stranger who turns out to be a caller counts as one', (t) => {
  const connection = connectionOf(null, '::1') as { -readonly [Name in keyof Connection]: Connection[Name] };
  const held = budgetFor(connection);
  held.count(connection, 200);
  connection.holdsFor = 'a' as HoldsFor;
  held.count(connection, 900);
  t.same([connection.isCut, held.held], [false, { callers: 900, strangers: 0 }]);
  held.count(connection, 0);
  t.same(held.held, { callers: 0, strangers: 0 });
  t.end();
});

t.test(
  'whoever is within an equal share is never cut, and the budget is exceeded by a sixteenth at most',
  (t) => {
    const holder = fc.constantFrom('a', 'b', 'c', null);
    const holders = fc.array(fc.tuple(holder, fc.constantFrom('1', '2')), { minLength: 20, maxLength: 20 });
    const steps = fc.array(fc.tuple(fc.nat(19), fc.nat(300)), { minLength: 40, maxLength: 60 });
    fc.assert(
      fc.property(holders, steps, (who, counts) => {
        const connections = who.map(([holdsFor, network]) => connectionOf(holdsFor, network));
        const held = budgetFor(...connections);
        for (const [at, bytes] of counts) {
          const connection = connections[at] as Connection;
          if (connection.isCut) continue;
          const before = connections.filter(({ isCut }) => !isCut);
          const asked = new Map<string, number>();
          for (const each of connections) {
            const more = each === connection ? bytes : each.counted;
            asked.set(nameOf(each), (asked.get(nameOf(each)) ?? 0) + more);
          }
          held.count(connection, bytes);
          const { callers, strangers } = held.held;
          if (callers + strangers > most || strangers > most / 4) return false;
          // At most five share the budget, and at most two a quarter of it.
          const least = (each: Connection): number =>
            Math.floor(each.holdsFor === null ? budget / 8 : budget / 5);
          if (before.some((each) => each.isCut && (asked.get(nameOf(each)) ?? 0) <= least(each)))
            return false;
        }
        return true;
      }),
      { endOnFailure: true },
    );
    t.end();
  },
);

function nameOf({ holdsFor, network }: Connection): string {
  return holdsFor ?? network;
}
