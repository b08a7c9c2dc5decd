// class: pure
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { configFile, faultsOf } from '../support/config-files.ts';

const traps: readonly (readonly [string, string, RegExp])[] = [
  ['a key that stands twice', 'listen: {port: 1}\nlisten: {port: 2}', /twice/],
  ['tabs', 'listen:\n\tport: 1', /tabs/],
  ['a number that is octal to some', 'listen: {port: 0100}', /leading 0/],
  ['an octal number', 'listen: {port: 0o100}', /leading 0/],
  ['a hexadecimal number', 'listen: {port: 0x50}', /leading 0/],
  ['a number with a fraction', 'listen: {port: 80.5}', /whole number/],
  ['infinity', 'listen: {port: .inf}', /whole number/],
  ['yes for true', 'migrate: yes', /true or false/],
  ['two documents', 'listen: {port: 1}\n---\nlisten: {port: 2}', /one document/],
  ['a tag', 'data_dir: !!binary aGVsbG8=', /tags/],
  ['a tag that other tools run', 'data_dir: !!js/function "x"', /tags/],
  ['an alias without anchor', 'data_dir: *nothing', /aliases/],
  ['a merge key', 'listen: &a {port: 1}\ninternal:\n  <<: *a', /aliases/],
  ['a list at the top', '- listen', /mapping/],
  ['text at the top', 'listen', /mapping/],
  ['a prototype for a key', '__proto__: {port: 1}', /unknown key/],
  ['a constructor for a key', 'listen: {constructor: {prototype: {x: 1}}}', /unknown key/],
  ['an open bracket', 'routes: [', /indentation|missing/],
  ['an anchor that holds itself', 'listen: &a\n  port: *a', /aliases/],
  ['deep nesting in brackets', `routes: ${'['.repeat(30_000)}`, /deeply/],
  ['deep nesting over many lines', `routes:\n${' {\n'.repeat(1_000)}`, /deeply/],
  ['deep nesting in blocks', `routes:\n${'- '.repeat(30_000)}x`, /deeply/],
  ['an alias bomb', bomb(), /aliases/],
];

for (const [name, yaml, detail] of traps) {
  t.test(`${name} is a fault with its place, and no crash`, (t) => {
    const CONFIG = configFile(t, yaml);
    const [first] = faultsOf({ CONFIG });
    t.match(first, { where: CONFIG, detail });
    t.end();
  });
}

t.test('a file that is missing, a folder, not text or huge is a fault', (t) => {
  const folder = t.testdir();
  const file = join(folder, 'gateway.yaml');
  t.match(faultsOf({ CONFIG: file }), [{ where: file, detail: /no such file/ }]);
  t.match(faultsOf({ CONFIG: folder }), [{ where: folder, detail: /cannot be read/ }]);
  writeFileSync(file, Buffer.from([0x61, 0xff, 0xfe]));
  t.match(faultsOf({ CONFIG: file }), [{ where: file, detail: /UTF-8/ }]);
  writeFileSync(file, '#'.repeat(2 * 1024 * 1024));
  t.match(faultsOf({ CONFIG: file }), [{ where: file, detail: /1 MiB/ }]);
  t.end();
});

/** Each line repeats the one before nine times: a billion values from ten lines. */
function bomb(): string {
  const lines = ['a: &a [1]'];
  for (let i = 0; i < 9; i++) {
    const [from, to] = ['abcdefghij'[i], 'abcdefghij'[i + 1]];
    lines.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(',')}]`);
  }
  return lines.join('\n');
}
