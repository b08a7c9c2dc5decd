// class: pure
import t from 'tap';
import { nodeRuntime } from '../../bench/lib/node-runtime.ts';
import { readOptions } from '../../bench/options.ts';

const own = process.execPath;

t.test('what stands behind the program are its flags, and the record names them', (t) => {
  const { program, flags, version } = nodeRuntime(`${own} --no-warnings --stack-size=900`, ['--no-opt']);
  t.equal(program, own);
  t.strictSame(flags, ['--no-warnings', '--stack-size=900', '--no-opt']);
  t.equal(version, `Node ${process.version} --no-warnings --stack-size=900 --no-opt`);
  t.end();
});

t.test('a blank in the path of the program is not the beginning of its flags', (t) => {
  t.throws(() => nodeRuntime('/no such folder/node --no-opt'), /\/no such folder\/node.*ENOENT/);
  t.end();
});

t.test('a flag that this Node does not know is refused before anything is measured', (t) => {
  t.throws(() => readOptions(['--node', `${own} --no-such-flag-of-node`]), /--no-such-flag-of-node/);
  t.end();
});

t.test('two builds are compared on one Node', (t) => {
  t.throws(() => readOptions(['--against', 'main', '--node', own, '--node', own]), /only one --node/);
  t.equal(readOptions(['--against', 'main', '--node', own]).nodes.length, 1);
  t.equal(readOptions([]).nodes[0]?.program, own, 'the one that measures, where none is asked for');
  t.end();
});
