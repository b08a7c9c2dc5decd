import t from 'tap';
import { Gate } from '../../../src/coherence/loading/gate.ts';
import { everythingThatFollows } from '../../support/coherence/manual-time.ts';

t.test('it runs so many at once, lets so many wait, and rejects the rest', async (t) => {
  const gate = new Gate(2, 3);
  const finish: (() => void)[] = [];
  const outcomes: string[] = [];
  for (let i = 0; i < 6; i++) {
    gate
      .run(() => new Promise<void>((resolve) => finish.push(resolve)))
      .then(
        () => outcomes.push('ran'),
        (error: { problem?: { code: string } }) => outcomes.push(error.problem?.code ?? 'failed'),
      );
  }
  await everythingThatFollows();
  t.equal(finish.length, 2);
  t.same(outcomes, ['overloaded']);
  for (let ran = 0; ran < 5; ran++) {
    finish[ran]?.();
    await everythingThatFollows();
  }
  t.same(outcomes, ['overloaded', 'ran', 'ran', 'ran', 'ran', 'ran']);
});

t.test('a task that fails makes room like any other', async (t) => {
  const gate = new Gate(1, 1);
  await t.rejects(
    gate.run(() => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  );
  t.equal(await gate.run(async () => 'ran'), 'ran');
});
