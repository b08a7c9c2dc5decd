// class: pure
/** What the journal keeps of what was counted: over a kill, while the store is away, and where the disk does not do what it should. */
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { begunRecorder, recorderInManualTime, used } from '../../support/usage-recorder.ts';

t.test(
  'writes by default are counted among the writes, by a kill too, and taken back with them',
  async (t) => {
    const { recorder, world, usageOf, killed, next } = await begunRecorder(t);
    recorder.count(used(), 'write-by-default');
    recorder.count(used(), 'write');
    world.nowMs += 5;
    recorder.takeBack(recorder.count(used(), 'write-by-default'), 'write-by-default');
    recorder.count(used('other'), 'write-by-default');
    recorder.commit();
    killed();
    await next();
    t.match(usageOf('key', 0), { requests: 2, writes: 2, writesByDefault: 1 });
    t.match(usageOf('other', 0), { writesByDefault: 1, lastWriteByDefaultMs: world.nowMs });
  },
);

t.test('what a killed process has counted is added by the next one, once', async (t) => {
  const { recorder, world, killed, next } = await begunRecorder(t);
  for (let i = 0; i < 50; i++) recorder.count(used(`key ${i}`), 'read');
  recorder.commit();
  world.away = 'after';
  await world.tick();
  for (let i = 0; i < 70; i++) recorder.count(used(`key ${i}`), 'write');
  recorder.commit();
  killed();
  world.away = undefined;
  t.equal(world.requests(), 50, 'which the store has, though its response was lost');
  await next();
  t.equal(world.requests(), 120);
  await next();
  t.equal(world.requests(), 120, 'there is nothing left');
  t.equal(world.throughMs, Infinity, 'reports do not wait for it any more');
});

t.test('a replay that is killed in the middle goes on where it was', async (t) => {
  const { recorder, world, killed, next } = await begunRecorder(t);
  for (let i = 0; i < 5_000; i++) recorder.count(used(`key ${i}`), 'read');
  recorder.commit();
  killed();
  for (const [left, away] of [
    [1, 'after'],
    [1, 'before'],
    [2, 'after'],
  ] as const) {
    world.callsLeft = left;
    world.awayThen = away;
    await next(false);
  }
  world.callsLeft = Infinity;
  await next();
  t.equal(world.requests(), 5_000);
});

t.test('the journal of a process that lives is left alone', async (t) => {
  const { recorder, world, next } = await begunRecorder(t);
  recorder.count(used(), 'read');
  recorder.commit();
  await next(false);
  t.equal(world.requests(), 0);
  await world.tick();
  t.equal(world.requests(), 1);
});

t.test('while the store is away rows go to disk, not to memory, and all arrive', async (t) => {
  const { recorder, world } = await begunRecorder(t);
  world.away = 'before';
  for (let i = 0; i < 90_000; i++) {
    recorder.count(used(`key ${i}`), 'read');
    if (i % 1_000 === 0) recorder.commit();
    if (i % 10_000 === 0) await world.tick();
  }
  world.away = undefined;
  for (let i = 0; i < 3; i++) await world.tick();
  t.equal(world.requests(), 90_000);
});

t.test('a journal that cannot be written is said once, stops nothing, and is taken up again', async (t) => {
  const { recorder, world, killed, next, said, folder } = await begunRecorder(t, {
    journalBytes: 2_000,
  });
  world.away = 'before';
  for (let i = 0; i < 100; i++) {
    recorder.count(used(`key ${i}`), 'read');
    recorder.commit();
  }
  t.equal(recorder.unwritable, true, 'it is full');
  await world.tick();
  t.equal(said.filter((text) => text.includes('cannot be written')).length, 1);
  world.away = undefined;
  for (let i = 0; i < 8; i++) await world.tick();
  t.equal(world.requests(), 100, 'what was in memory arrives');
  t.equal(recorder.unwritable, false);
  t.ok(said.some((text) => text.includes('is written again')));
  recorder.count(used(), 'read');
  recorder.commit();
  killed();
  await next();
  t.equal(world.requests(), 101, 'and a crash loses nothing again');
  t.same(await readdir(join(folder, 'store')), []);
});

t.test('a folder that cannot be made is no obstacle either', async (t) => {
  const { recorder, world, folder } = await recorderInManualTime(t);
  await rm(folder, { recursive: true });
  await writeFile(folder, 'a file');
  await recorder.begin();
  recorder.count(used(), 'read');
  recorder.commit();
  await world.tick();
  t.equal(world.requests(), 1);
  t.equal(recorder.unwritable, true);
  await rm(folder);
  await world.tick();
  t.equal(recorder.unwritable, true, 'not yet: it may be for a moment');
  for (let i = 0; i < 6; i++) await world.tick();
  t.equal(recorder.unwritable, false);
});

t.test('a folder that is taken away is made again', async (t) => {
  const { recorder, world, folder } = await begunRecorder(t);
  recorder.count(used(), 'read');
  recorder.commit();
  await rm(folder, { recursive: true });
  await world.tick();
  for (let i = 0; i < 3; i++) {
    recorder.count(used(), 'read');
    recorder.commit();
    await world.tick();
  }
  t.equal(world.requests(), 4);
  for (let i = 0; i < 6; i++) await world.tick();
  t.equal(recorder.unwritable, false);
  await chmod(folder, 0o700);
});

t.test('a journal that cannot be read is named, and keeps no other from being replayed', async (t) => {
  const { recorder, world, killed, next, said, folder } = await begunRecorder(t);
  recorder.count(used(), 'read');
  recorder.commit();
  killed();
  const broken = ['0', '5', 'f'].map((name) => join(folder, 'store', name));
  for (const path of broken) {
    // Where a batch should be.
    await mkdir(join(path, '0000000001.batch'), { recursive: true });
    await writeFile(join(path, 'journal'), '');
  }
  await next(false);
  t.equal(world.requests(), 1);
  t.equal(said.filter((text) => text.includes('cannot be replayed, and is left')).length, broken.length);
  for (const path of broken) await rm(path, { recursive: true });
  await next();
});
