// class: pure, alone
import { readFileSync } from 'node:fs';
import t from 'tap';
import { requireNode } from '../src/node-version.ts';

t.test('a Node.js that is too old is told so, and nothing else is loaded', (t) => {
  const written = t.capture(process.stderr, 'write', () => true);
  const exit = t.capture(process, 'exit', (() => undefined) as never);
  for (const fine of ['20.19.0', '20.20.2', '22.0.0', '24.1.0']) requireNode(fine);
  t.same(exit(), []);
  for (const old of ['18.20.8', '20.18.3', '16.0.0']) requireNode(old);
  t.equal(exit().length, 3);
  t.match(
    written().map(({ args }) => args[0]),
    [/needs Node.js 20.19 or newer; this is 18.20.8/, /20.18.3/, /16.0.0/],
  );
  for (const program of ['main', 'cli'])
    t.same(
      readFileSync(new URL(`../src/${program}.ts`, import.meta.url), 'utf8').match(/^import .*$/gm),
      ["import { requireNode } from './node-version.ts';"],
      'whatever else is imported first would fail first',
    );
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    engines: { node: string };
  };
  t.equal(engines.node, '>=20.19');
  t.end();
});
