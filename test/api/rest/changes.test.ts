// class: pure
import type { FastifyReply } from 'fastify';
import t from 'tap';
import { enforced, receiptText } from '../../../src/api/rest/changes.ts';

t.test('a receipt names what is out of the ordinary only when there is some', (t) => {
  t.equal(receiptText({ replicas: 3, timedOut: 0, streamsClosed: 0, ms: 3.2 }), 'replicas=3; ms=4');
  t.equal(
    receiptText({ replicas: 3, timedOut: 1, streamsClosed: 12, ms: 3000 }),
    'replicas=3; ms=3000; unheard=1; streams=12',
  );
  t.end();
});

t.test('a response waits for the barrier, and only where there is something to wait for', async (t) => {
  const headers = new Map<string, string>();
  const reply = {
    header: (name: string, value: string) => headers.set(name, value),
  } as unknown as FastifyReply;
  const waited: number[] = [];
  let release = (): void => undefined;
  const barrier = {
    enforced: async (seq: number) => {
      await new Promise<void>((resolve) => (release = resolve));
      waited.push(seq);
      return { replicas: 1, timedOut: 0, streamsClosed: 0, ms: 0 };
    },
  };

  t.equal(
    await enforced({ value: 'mint', seq: null, incarnation: 'i' }, barrier, reply, 'X-Enforced'),
    'mint',
  );
  t.equal(headers.size, 0);

  let responded = false;
  const response = enforced({ value: 'revoke', seq: 7, incarnation: 'i' }, barrier, reply, 'X-Enforced').then(
    (value) => {
      responded = true;
      return value;
    },
  );
  await new Promise(setImmediate);
  t.notOk(responded);
  release();
  t.equal(await response, 'revoke');
  t.same(waited, [7]);
  t.equal(headers.get('X-Enforced'), 'replicas=1; ms=0');
});
