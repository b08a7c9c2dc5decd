/** Thousands of random changes by many at a time, and whether exactly their events are there. */
import type { Test } from 'tap';
import { Random } from '../coherence/random.ts';
import { Callers, type NamedOperator } from './callers.ts';
import { ChangingParent } from './changing-parent.ts';
import { EventReader, type ShownEvent } from './event-reader.ts';
import type { Asked } from './gateways.ts';

export interface RandomChanges {
  readonly gateways: readonly Asked[];
  readonly operators: readonly NamedOperator[];
  readonly seed: number;
  /** How many events to leave, about. */
  readonly changes: number;
  /** Parents that are changed at the same time, each by one change after the other. */
  readonly parents: number;
  /** Of the changes that the command line can make, the share that it makes. */
  readonly cliShare: number;
  /** Is told how many events there must be by now. */
  readonly onProgress?: (made: number) => void;
}

/** Makes the changes while readers follow the events; then looks whether all is there, in order, and nothing else. */
export async function randomChanges(t: Test, options: RandomChanges): Promise<void> {
  const { gateways, operators, seed, changes, parents: count, cliShare } = options;
  const random = new Random(seed);
  const token = operators[0]?.token ?? '';
  const parents = Array.from({ length: count }, () => {
    const own = new Random(random.below(2 ** 32));
    return new ChangingParent(new Callers({ gateways, operators, random: own, cliShare }), own);
  });
  await Promise.all(parents.map((parent) => parent.begin()));
  const readers = parents.map(
    ({ id }) => new EventReader(gateways, new Random(random.below(2 ** 32)), id, token),
  );

  const made = (): number => parents.reduce((sum, { expected }) => sum + expected.length, 0);
  let busy = true;
  const following = Promise.all(
    readers.map(async (reader) => {
      while (busy) await reader.read(5);
    }),
  );
  try {
    await Promise.all(
      parents.map(async (parent) => {
        while (made() < changes) {
          await parent.step();
          options.onProgress?.(made());
        }
      }),
    );
  } finally {
    busy = false;
  }
  await following;

  for (const [i, parent] of parents.entries()) {
    const whole = new EventReader(gateways, random, parent.id, token);
    await whole.read(100);
    check(t, parent, whole.found, operators);
    const reader = readers[i] as EventReader;
    await reader.read(100);
    t.same(
      reader.found.map(({ id }) => id),
      whole.found.map(({ id }) => id),
      'a reader that followed them missed none',
    );
  }
}

function check(
  t: Test,
  { expected, secrets }: ChangingParent,
  found: readonly ShownEvent[],
  operators: readonly NamedOperator[],
): void {
  const shown = found.map(({ type, actor, data, request_id: call }) => ({
    type,
    of: String(data.object['id']),
    by: actor.kind === 'operator' ? actor.name : actor.key_id,
    call,
  }));
  t.same(
    sortedWithinCalls(shown),
    sortedWithinCalls(expected.map(({ type, of, by, step }) => ({ type, of, by, call: step }))),
    'exactly the events of the changes, in their order',
  );
  const wrong = expected.filter(({ previous }, i) => {
    const was = found[i]?.data.previous;
    return previous && Object.entries(previous).some(([name, value]) => was?.[name] !== value);
  });
  t.same(wrong, [], 'what was before');
  t.ok(
    found.every(({ request_id: id, address }) => id !== null && address === '127.0.0.1'),
    'by which request, from where',
  );
  const text = JSON.stringify(found);
  const leaked = [...secrets, ...operators.map(({ token }) => token)].filter((secret) =>
    text.includes(secret),
  );
  t.same(leaked, [], 'no secret');
}

/** The events of one call have one time and no order among them; those of one thing keep theirs. */
function sortedWithinCalls(
  events: readonly {
    readonly type: string;
    readonly of: string;
    readonly by: unknown;
    readonly call: unknown;
  }[],
): object[] {
  const calls: (typeof events)[number][][] = [];
  for (const event of events) {
    const last = calls.at(-1);
    if (last !== undefined && last[0]?.call === event.call) last.push(event);
    else calls.push([event]);
  }
  return calls
    .flatMap((call) => call.sort((a, b) => (a.of === b.of ? 0 : a.of < b.of ? -1 : 1)))
    .map(({ type, of, by }) => ({ type, of, by }));
}
