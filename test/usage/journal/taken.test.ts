// class: pure
/** A journal that another process takes although its owner is alive. */
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { Random } from '../../support/coherence/random.ts';
import { begunRecorder, used } from '../../support/usage-recorder.ts';

const runs = Number(process.env['TAKEN_RUNS'] ?? 40);

t.test('the owner goes on with a new journal, and says so', async (t) => {
  const { recorder, world, unlocked, next, said, usageOf, folder } = await begunRecorder(t);
  const [first] = await readdir(join(folder, 'store'));
  for (let i = 0; i < 3; i++) recorder.count(used(), 'read');
  recorder.commit();
  unlocked();
  await next();
  t.equal(world.requests(), 3, 'the taker adds what was in the file');
  const request = recorder.count(used(), 'write');
  recorder.commit();
  recorder.noteOutcome(request, 500);
  await world.tick();
  t.match(usageOf('key', 0), { requests: 4, reads: 3, writes: 1, serverErrors: 1 });
  t.match(said.filter((line) => /taken/.test(line)).length, 1);
  const [second, ...more] = await readdir(join(folder, 'store'));
  t.not(second, first);
  t.same(more, []);
  t.ok(world.throughMs < Infinity, 'reports wait for the new journal');
  t.equal(await recorder.stop(), 0);
  t.equal(world.requests(), 4);
});

t.test('a file that somebody has written to, but has not taken, is no reason', async (t) => {
  const { recorder, world, said, folder } = await begunRecorder(t);
  recorder.count(used(), 'read');
  recorder.commit();
  const [journal = ''] = await readdir(join(folder, 'store'));
  const file = (await readdir(join(folder, 'store', journal))).find((name) => name.endsWith('.batch')) ?? '';
  await appendFile(join(folder, 'store', journal, file), 'x');
  await world.tick();
  t.equal(world.requests(), 1);
  t.notOk(said.some((line) => /taken/.test(line)));
});

t.test('a file of another version is left as it is', async (t) => {
  const { recorder, killed, next, folder, world } = await begunRecorder(t);
  recorder.count(used(), 'read');
  recorder.commit();
  killed();
  const other = join(folder, 'store', 'other');
  await mkdir(other);
  await writeFile(join(other, 'journal'), '');
  await writeFile(join(other, '0000000001.batch'), 'tenancy-gateway usage 999\n');
  for (let i = 0; i < 2; i++) await next(false);
  t.equal(await readFile(join(other, '0000000001.batch'), 'latin1'), 'tenancy-gateway usage 999\n');
  t.equal(world.requests(), 1);
});

t.test('nothing is lost and nothing counted twice, whenever it is taken', async (t) => {
  for (let seed = 1; seed <= runs; seed++) {
    const random = new Random(seed);
    const { recorder, world, unlocked, next } = await begunRecorder(t);
    let counted = 0;
    const count = (): void => {
      for (let i = random.below(6); i > 0; i--, counted++)
        recorder.count(used(`key ${random.below(4)}`), random.pick(['read', 'write', 'write-by-default']));
      recorder.commit();
    };
    const steps = {
      count,
      tick: () => world.tick(),
      away: () => void (world.away = random.pick(['before', 'after'])),
      back: () => void (world.away = undefined),
      taken: async () => {
        if (world.away !== undefined) return;
        unlocked();
        await next(false);
      },
    };
    const names = ['count', 'count', 'count', 'tick', 'tick', 'away', 'back', 'back', 'taken'] as const;
    for (let i = 0; i < 25; i++) await steps[random.pick(names)]();
    world.away = undefined;
    await world.tick();
    await recorder.stop();
    unlocked();
    await next();
    t.equal(world.requests(), counted, `run ${seed}`);
  }
});
