// class: pure
import t from 'tap';
import { missingV8Flags } from '../../src/wiring/v8-flags.ts';

t.test('a flag is missing unless the command line or NODE_OPTIONS sets it, to whatever value', (t) => {
  const [semiSpace = '', pretenuring = ''] = missingV8Flags([], '');
  t.match(semiSpace, '--max-semi-space-size=');
  t.same(missingV8Flags([semiSpace, pretenuring], ''), []);
  t.same(missingV8Flags(['--max_semi_space_size=64'], ''), [pretenuring]);
  t.same(missingV8Flags([], '--enable-source-maps  --max-semi-space-size=64'), [pretenuring]);
  t.same(missingV8Flags(['--allocation-site-pretenuring'], ''), [semiSpace]);
  t.end();
});
