// class: pure
import t from 'tap';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCode, Failure } from '../../../src/cli/failure.ts';
import { eachOf, patiently } from '../../../src/cli/import/send.ts';

const busy = (status: number, retryAfter?: number): Failure =>
  new Failure(status === 503 ? exitCode.unreachable : exitCode.failed, `is ${status}`, undefined, {
    problem: { status },
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
  });

t.test('a call is sent again while the gateway is busy or away, after the time it asks for', async (t) => {
  const waits: number[] = [];
  const failures = [busy(429, 0.01), busy(503, 0), busy(500, 0), busy(503, 0.02)];
  let calls = 0;
  const result = await patiently(
    () => {
      const failure = failures[calls++];
      return failure === undefined ? Promise.resolve('done') : Promise.reject(failure);
    },
    { forMs: 60_000, onWait: (seconds) => waits.push(seconds) },
  );
  t.equal(result, 'done');
  t.same(waits, [0.01, 0, 0, 0.02]);
});

t.test('what waiting does not mend is thrown at once, and what takes too long after its time', async (t) => {
  let calls = 0;
  const failing = (failure: Error) => (): Promise<never> => {
    calls += 1;
    return Promise.reject(failure);
  };
  for (const failure of [busy(400), busy(409), new Failure(exitCode.notAllowed, 'no'), new Error('ours')]) {
    calls = 0;
    await t.rejects(patiently(failing(failure), { forMs: 60_000 }), { message: failure.message });
    t.equal(calls, 1);
  }
  calls = 0;
  await t.rejects(patiently(failing(busy(503, 3600)), { forMs: 20 }), { message: 'is 503' });
  t.equal(calls, 1, 'it would have to wait for longer');
  await t.rejects(patiently(failing(new Failure(exitCode.unreachable, 'away')), { forMs: 500 }), /away/);
});

t.test('so many at a time, and after an error no more', async (t) => {
  let [now, most] = [0, 0];
  const done: number[] = [];
  const numbers = async function* (): AsyncGenerator<number> {
    for (let i = 0; i < 20; i++) {
      await sleep(0);
      yield i;
    }
  };
  const work = async (i: number): Promise<void> => {
    most = Math.max(most, ++now);
    await sleep(10);
    now -= 1;
    if (i === 10) throw new Error('the tenth');
    done.push(i);
  };
  await t.rejects(eachOf(numbers(), 3, work), { message: 'the tenth' });
  t.ok(most > 1 && most <= 3, String(most));
  t.ok(done.length >= 10 && done.length <= 13);
  t.equal(now, 0, 'what was begun has ended');
});
