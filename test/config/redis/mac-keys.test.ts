// class: pure
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readMacKeys } from '../../../src/config/redis/mac-keys.ts';
import { faultsOf, goodConfig } from '../../support/config-files.ts';

const folder = t.testdir();
const [first, second] = ['a'.repeat(32), 'b'.repeat(44)];
const file = (text: string): string => {
  const path = join(folder, 'mac-keys');
  writeFileSync(path, text);
  return path;
};

t.test('a key a line, the first one first; empty lines and line ends of Windows are none', async (t) => {
  const keys = [Buffer.from(first), Buffer.from(second)];
  const path = file(`${first}\r\n\n  ${second}\n`);
  t.same(readMacKeys(path), keys);
  t.equal(goodConfig({ REDIS_MAC_KEY_FILE: path }).redis.macKeyFile, path);
});

t.test('a file that authenticates nothing is a fault before anything is started', async (t) => {
  const where = /REDIS_MAC_KEY_FILE/;
  for (const [path, detail] of [
    [join(folder, 'missing'), /no such file/],
    [folder, /cannot be read/],
    [file(`${first}\nshort\n`), /at least 32 characters/],
  ] as const)
    t.match(faultsOf({ REDIS_MAC_KEY_FILE: path }), [{ where, detail }]);
  t.match(faultsOf({ REDIS_MAC_KEY_FILE: file('\n') }), [{ where, detail: /no key/ }]);
});
