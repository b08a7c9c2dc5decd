// class: app
import pino from 'pino';
import t from 'tap';
import { Lexer } from 'yaml';
import { reloader } from '../../src/wiring/reload.ts';
import { start } from '../support/reload.ts';
import { usageFolder } from '../support/usage-folder.ts';

t.test('signals that have arrived are one reload, although each is handed over by itself', async (t) => {
  let reloads = 0;
  const gateway = {
    reload: () => Promise.resolve(void (reloads += 1)),
    noteReload: () => undefined,
  };
  const reload = reloader({}, pino({ level: 'silent' }));
  const all: Promise<void>[] = [];
  for (let signal = 0; signal < 30; signal += 1) {
    all.push(reload(gateway));
    // What follows from a signal without waiting comes before the next signal.
    for (let tick = 0; tick < 100; tick += 1) await new Promise<void>((resolve) => process.nextTick(resolve));
  }
  await Promise.all(all);
  t.equal(reloads, 1);
  await reload(gateway);
  t.equal(reloads, 2, 'a later one is another');
});

t.test('requests have a turn after each part of a reload', async (t) => {
  const route = (_: unknown, i: number) => `  - { prefix: /${i}, upstream: "http://127.0.0.1:${i + 1}" }\n`;
  const routes = Array.from({ length: 300 }, route).join('');
  const yaml = `portal: { port: 0, url: "https://portal.example" }\nroutes:\n${routes}`;
  const { gateway, settings } = await start(t, yaml, { callers: false });
  let [turns, read] = [0, 0];
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  t.teardown(() => clearImmediate(next));
  const env = { ...settings(yaml), USAGE_JOURNAL_DIR: usageFolder() };
  const reload = reloader(env, pino({ level: 'silent' }));
  await reload({
    reload: (config) => ((read = turns), gateway.reload(config)),
    noteReload: (successful) => t.ok(successful),
  });
  const pieces = Math.floor([...new Lexer().lex(yaml)].length / 1_000);
  t.ok(read >= pieces + 5, `${read} turns for ${pieces} pieces of the file and what is made of them`);
  t.ok(turns - read >= 3, `${turns - read} turns for three applications`);
});
