// class: pure
import t from 'tap';
import pino from 'pino';
import { bringUp } from '../../src/wiring/bring-up.ts';
import type { MigrationEvents } from '../../src/adapters/postgres/schema/migrate.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';

/** A process that begins with `migrate`, and the lines of its log. */
function bringingUp(migrate: (events?: MigrationEvents) => Promise<number>, jit = false) {
  const time = new ManualTime();
  const lines: { level: number }[] = [];
  const up = bringUp({
    store: { migrate, ping: () => Promise.resolve({ jit }) },
    ...{ migrate: true, alone: false, timers: time.timers, clock: time.clock },
    logger: pino(
      { base: null },
      { write: (line: string) => lines.push(JSON.parse(line) as { level: number }) },
    ),
    begin: () => Promise.resolve(),
  });
  return { time, lines, up };
}

t.test(
  'while a migration has to wait, the process is unready by it, and says for what every half minute',
  async (t) => {
    let events: MigrationEvents = {};
    let migrated = (): void => undefined;
    const { time, lines, up } = bringingUp((given = {}) => {
      events = given;
      return new Promise((resolve) => {
        migrated = () => resolve(9);
      });
    });
    t.match(up.missing(), { reason: 'starting' });
    up.start();
    for (const seconds of [1, 5, 40]) {
      await time.advance((seconds - 1) * 1_000);
      const waitsFor = `AccessExclusiveLock on replica, held by process 7 (pg_dump, its transaction began ${seconds} s ago)`;
      events.onWait?.({ step: '0009 other', waitsFor, elsewhere: false });
    }
    t.match(up.missing(), { reason: 'migrations_pending', detail: /0009 other/ });
    t.equal(lines.length, 2);
    t.match(lines[0], {
      level: 40,
      step: '0009 other',
      reason: 'migrations_pending',
      waitsFor: /process 7 \(pg_dump/,
    });
    events.onStep?.('0009 other');
    migrated();
    await up.done;
    t.equal(up.missing(), null);
  },
);

const step = '0001 first';
const elsewhere = { step, waitsFor: 'another process', elsewhere: true };
const locked = { step, waitsFor: 'AccessExclusiveLock on replica', elsewhere: false };

for (const [what, waits, levels] of [
  ['a replica that starts while another migrates the database logs no warning', [elsewhere], [30]],
  [
    'a held lock is a warning at once, also right after another process was migrating',
    [elsewhere, locked, elsewhere, locked],
    [30, 40],
  ],
] as const)
  t.test(what, async (t) => {
    const { lines, up } = bringingUp(async ({ onWait } = {}) => {
      for (const wait of waits) onWait?.(wait);
      return 9;
    });
    up.start();
    await up.done;
    t.same(
      lines.map(({ level }) => level),
      levels,
    );
  });

t.test('where a pooler keeps jit on, the log says what to set', async (t) => {
  for (const jit of [false, true]) {
    const { lines, up } = bringingUp(() => Promise.resolve(9), jit);
    up.start();
    await up.done;
    t.match(lines, jit ? [{ level: 40, msg: /`jit = off`/ }] : []);
    t.equal(lines.length, jit ? 1 : 0);
  }
});
