// class: pure
/** Counting, and adding what was counted to the store. What survives a kill is in `journal/recorded.test.ts`. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { hourMs } from '../../src/domain/usage.ts';
import type { FactKey } from '../../src/ports/facts.ts';
import { leaseMs, makeLease } from '../support/coherence/lease-pieces.ts';
import { everythingThatFollows } from '../support/coherence/manual-time.ts';
import type { ScriptedLog } from '../support/coherence/scripted-log.ts';
import { eventually } from '../support/eventually.ts';
import { begunRecorder, recorderInManualTime, used } from '../support/usage-recorder.ts';

t.test('requests are counted by account, key and hour, and added when it is time', async (t) => {
  const { recorder, world, usageOf } = await begunRecorder(t);
  const first = recorder.count(used(), 'read');
  recorder.noteOutcome(recorder.count(used(), 'write'), 404);
  recorder.noteBytes(first, 3, 30);
  recorder.count(used('other'), 'read');
  await world.pass(hourMs);
  recorder.noteOutcome(first, 502);
  recorder.count(used(), 'read');
  await world.tick();
  const counts = { requests: 2, reads: 1, writes: 1, clientErrors: 1, serverErrors: 1 };
  t.match(
    usageOf('key', 0),
    { ...counts, bytesIn: 3, bytesOut: 30 },
    'the outcome is in the hour of the hand-over',
  );
  t.match(usageOf('other', 0), { requests: 1 });
  t.match(usageOf('key', hourMs), { requests: 1, serverErrors: 0 });
  t.equal(world.throughMs, world.nowMs - 1_000);
});

t.test('units count in the hour of the hand-over, and their sum ends at 2^53 - 1', async (t) => {
  const { recorder, world, usageOf } = await begunRecorder(t);
  const counted = recorder.count(used(), 'read');
  const other = recorder.count(used('other'), 'read');
  await world.pass(hourMs);
  recorder.noteUnits(counted, 7);
  recorder.noteUnits(counted, 5);
  for (let i = 0; i < 3; i++) recorder.noteUnits(other, Number.MAX_SAFE_INTEGER - 1);
  await world.tick();
  t.match(usageOf('key', 0), { requests: 1, units: 12 });
  t.match(usageOf('other', 0), { requests: 1, units: Number.MAX_SAFE_INTEGER });
});

t.test('units that cannot be read are all counted, and logged once a minute', async (t) => {
  const { recorder, world, said, malformed } = await begunRecorder(t);
  const lines = (): number => said.filter((line) => line.includes('units_header')).length;
  for (let i = 0; i < 100; i++) recorder.noteMalformedUnits('/');
  t.same([lines(), malformed()], [1, 100]);
  await world.pass(59_999);
  recorder.noteMalformedUnits('/');
  t.same([lines(), malformed()], [1, 101]);
  await world.pass(1);
  recorder.noteMalformedUnits('/');
  t.same([lines(), malformed()], [2, 102]);
});

t.test('a request that was not sent after all is not counted', async (t) => {
  const { recorder, world, usageOf } = await begunRecorder(t);
  const counted = recorder.count(used(), 'write');
  recorder.count(used(), 'read');
  recorder.commit();
  recorder.takeBack(counted, 'write');
  await world.tick();
  t.match(usageOf('key', 0), { requests: 1, reads: 1, writes: 0 });
});

t.test('bytes of what is under way are asked for, and count in the hour in which they pass', async (t) => {
  const { recorder, world, usageOf } = await begunRecorder(t);
  const stream = recorder.count(used(), 'read');
  let passed = 0;
  recorder.onCollect(() => {
    recorder.noteBytes(stream, 0, passed);
    passed = 0;
  });
  passed = 10;
  await world.tick();
  passed = 5;
  world.nowMs = hourMs + 1;
  await world.tick();
  passed = 100;
  await world.tick();
  t.equal(usageOf('key', 0).bytesOut, 15, 'what has passed since the last time was before the hour');
  t.match(usageOf('key', hourMs), { requests: 0, bytesOut: 100 });
});

t.test('hours are those of the store, whatever the clock of this machine says', async (t) => {
  const { recorder, world, usageOf } = await recorderInManualTime(t);
  world.storeAheadMs = hourMs;
  await recorder.begin();
  recorder.count(used(), 'read');
  await world.tick();
  t.match(usageOf('key', hourMs), { requests: 1 });
});

t.test('a delivery for a new quota has all that was counted before it, and nothing later', async (t) => {
  const { recorder, world } = await begunRecorder(t);
  recorder.count(used(), 'read');
  const first = recorder.deliver();
  recorder.count(used(), 'read');
  const second = recorder.deliver();
  recorder.count(used(), 'read');
  await Promise.all([first, second]);
  t.same([world.requests(), world.readThrough], [2, 7], 'with how far the process had read then');
  await world.tick();
  t.equal(world.requests(), 3);
});

t.test('what a new quota decided is not added to it, though its confirmation fails', async (t) => {
  let failures = 0;
  const events = { quotaSet: () => recorder.deliver(), leaseRenewalFailed: () => void (failures += 1) };
  const { time, log, view, lease } = makeLease({ events });
  const { recorder, world } = await begunRecorder(t, { readThrough: () => view.through });
  lease.start();
  await everythingThatFollows();
  log.ack = () => {
    delete (log as Partial<ScriptedLog>).ack;
    return Promise.reject(new Error('away'));
  };
  log.reading = { ...log.reading, seq: 6, entries: [{ seq: 6, key: 'q:p' as FactKey, revoked: false }] };
  recorder.count(used(), 'read');
  log.hint();
  await eventually(() => failures === 1);
  t.same([world.requests(), world.readThrough, log.acked], [1, 5, 5]);
  log.reading = { ...log.reading, entries: [] };
  recorder.count(used(), 'read');
  await time.advance(leaseMs / 4);
  await eventually(() => log.acked === 6);
  await world.tick();
  t.same([world.requests(), world.readThrough], [2, 6]);
});

t.test('a key that is used for what is not counted is noted with the rest', async (t) => {
  const { recorder, world, usageOf } = await begunRecorder(t);
  recorder.touch(used());
  await world.tick();
  t.match(usageOf('key', 0), { requests: 0, lastUsedMs: world.nowMs - 2_000 });
});

t.test('where the response of the store is lost nothing counts twice, and counting goes on', async (t) => {
  const { recorder, world, usageOf } = await begunRecorder(t);
  recorder.count(used(), 'read');
  world.away = 'after';
  await world.tick();
  recorder.count(used(), 'read');
  recorder.count(used(), 'read');
  await world.tick();
  world.away = undefined;
  await world.tick();
  await world.tick();
  t.match(usageOf('key', 0), { requests: 3 });
  t.ok(recorder.lagMs() < 4_000);
});

t.test('a store that is away at the start is no beginning', async (t) => {
  const { recorder, world, usageOf } = await recorderInManualTime(t);
  recorder.touch(used());
  world.away = 'before';
  await t.rejects(recorder.begin());
  world.away = undefined;
  await recorder.begin();
  await world.tick();
  t.match(usageOf('key', 0), { requests: 0 });
});

t.test('the end adds what is left, says that there will be no more, and leaves no journal', async (t) => {
  const { recorder, world, usageOf, folder } = await begunRecorder(t);
  recorder.count(used(), 'read');
  await recorder.stop();
  t.match(usageOf('key', 0), { requests: 1 });
  t.equal(world.throughMs, Infinity);
  t.equal(world.waiting.length, 0, 'and nothing is scheduled any more');
  t.same(await readdir(join(folder, 'store')), []);
});

t.test('the end tries again while the store is away, until its time is over', async (t) => {
  const { recorder, world, usageOf } = await begunRecorder(t);
  recorder.count(used(), 'read');
  world.away = 'before';
  const stopped = recorder.stop(world.nowMs + 5_000);
  for (let i = 0; i < 3; i++) await nextAttempt(world);
  world.away = undefined;
  await nextAttempt(world);
  t.equal(await stopped, 0);
  t.match(usageOf('key', 0), { requests: 1 });
  t.equal(world.throughMs, Infinity);
});

t.test('the end tries again although only the word that there will be no more is missing', async (t) => {
  const { recorder, world, folder } = await begunRecorder(t);
  world.away = 'before';
  const stopped = recorder.stop(world.nowMs + 5_000);
  for (let i = 0; i < 3; i++) await nextAttempt(world);
  t.not(world.throughMs, Infinity);
  world.away = undefined;
  await nextAttempt(world);
  t.equal(await stopped, 0);
  t.equal(world.throughMs, Infinity);
  t.same(await readdir(join(folder, 'store')), []);
});

t.test('the end says what it could not add, and the next process adds it', async (t) => {
  const { recorder, world, usageOf, killed, next, folder } = await begunRecorder(t);
  for (let i = 0; i < 3; i++) recorder.count(used(), 'read');
  world.away = 'before';
  const stopped = recorder.stop(world.nowMs + 1_200);
  for (let i = 0; i < 2; i++) await nextAttempt(world);
  t.equal(await stopped, 3);
  t.ok(recorder.journalFolder?.startsWith(folder));
  killed();
  world.away = undefined;
  await next();
  t.match(usageOf('key', 0), { requests: 3 });
});

for (const leftMs of [5_000, -1])
  t.test(`an attempt that hangs does not hold the end up, ${leftMs} ms before its time`, async (t) => {
    const { recorder, world } = await begunRecorder(t);
    recorder.count(used(), 'read');
    world.hangs = true;
    const before = world.waiting.length;
    const stopped = recorder.stop(world.nowMs + leftMs);
    await eventually(() => world.waiting.length >= before);
    for (const task of world.waiting.splice(0)) task();
    t.equal(await stopped, 1);
  });

/** Passes the pause until the next attempt of the end. */
async function nextAttempt(world: Awaited<ReturnType<typeof recorderInManualTime>>['world']): Promise<void> {
  const { calls } = world;
  // The first waiting task is the end of the time.
  await eventually(() => world.waiting.length === 2);
  const [pause] = world.waiting.splice(1);
  await world.pass(500);
  pause?.();
  await eventually(() => world.calls > calls);
}

t.test('an idle process logs the loss and the return of the store once each', async (t) => {
  const { world, said } = await begunRecorder(t);
  world.away = 'before';
  for (let i = 0; i < 10; i++) await world.tick();
  t.same(said, ['usage cannot be added to the store; it is kept and added later']);
  world.away = undefined;
  for (let i = 0; i < 10; i++) await world.tick();
  t.same(said.slice(1), ['usage is added to the store again']);
});

t.test('while nothing is counted the store hears of it now and then, so that reports move on', async (t) => {
  const { recorder, world } = await begunRecorder(t);
  const before = world.calls;
  for (let i = 0; i < 10; i++) await world.tick();
  t.ok(world.calls > before && world.calls < before + 4, `${world.calls - before} calls in 20 s`);
  t.ok(recorder.lagMs() < 12_000);
});

t.test('a row that the store can never add is set aside, and all others arrive', async (t) => {
  const { recorder, world, setAside, usageOf } = await begunRecorder(t);
  for (let i = 0; i < 3_000; i++) recorder.count(used(`key ${i}`), 'read');
  world.unusable = 'key 1234';
  await world.tick();
  recorder.count(used('later'), 'read');
  await world.tick();
  t.equal(world.requests(), 3_000, 'all but one, and the one that came later');
  t.equal(usageOf('later', 0).requests, 1);
  t.match(setAside, [{ keyId: 'key 1234', requests: 1 }]);
});
