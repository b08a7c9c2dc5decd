// class: night
import t from 'tap';
import { guardMutations } from '../../security/guard-mutations.ts';
import { missesGuards } from './missed-guards.ts';

t.test('every attack of test/security is noticed by its test where its guard is taken away', async (t) => {
  t.equal(await missesGuards(t), guardMutations.length);
});
