// class: pure
import t from 'tap';
import pino from 'pino';
import { bringUp } from '../../src/wiring/bring-up.ts';
import type { MigrationEvents } from '../../src/adapters/postgres/schema/migrate.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';

t.test(
  'while a migration has to wait, the process is unready by it, and says for what every half minute',
  async (t) => {
    const time = new ManualTime();
    const lines: string[] = [];
    let events: MigrationEvents = {};
    let migrated = (): void => undefined;
    const up = bringUp({
      store: {
        migrate: (given = {}) => {
          events = given;
          return new Promise((resolve) => {
            migrated = () => resolve(9);
          });
        },
        ping: () => Promise.resolve(),
      },
      migrate: true,
      alone: false,
      timers: time.timers,
      clock: time.clock,
      logger: pino({ base: null }, { write: (line: string) => lines.push(line) }),
      begin: () => Promise.resolve(),
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
    t.match(JSON.parse(lines[0] ?? ''), {
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

t.test('a replica that starts while another migrates the database logs no warning', async (t) => {
  const time = new ManualTime();
  const lines: string[] = [];
  const up = bringUp({
    store: {
      migrate: async ({ onWait } = {}) => {
        onWait?.({ step: '0001 first', waitsFor: 'another process', elsewhere: true });
        return 9;
      },
      ping: () => Promise.resolve(),
    },
    ...{ migrate: true, alone: false, timers: time.timers, clock: time.clock },
    logger: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    begin: () => Promise.resolve(),
  });
  up.start();
  await up.done;
  t.same(
    lines.map((line) => (JSON.parse(line) as { level: number }).level),
    [30],
  );
});

t.test('a held lock is a warning at once, also right after another process was migrating', async (t) => {
  const time = new ManualTime();
  const lines: string[] = [];
  const up = bringUp({
    store: {
      migrate: async ({ onWait } = {}) => {
        const step = '0001 first';
        for (let i = 0; i < 3; i++) {
          onWait?.({ step, waitsFor: 'another process', elsewhere: true });
          onWait?.({ step, waitsFor: 'AccessExclusiveLock on replica', elsewhere: false });
        }
        return 9;
      },
      ping: () => Promise.resolve(),
    },
    ...{ migrate: true, alone: false, timers: time.timers, clock: time.clock },
    logger: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    begin: () => Promise.resolve(),
  });
  up.start();
  await up.done;
  t.same(
    lines.map((line) => (JSON.parse(line) as { level: number }).level),
    [30, 40],
  );
});
