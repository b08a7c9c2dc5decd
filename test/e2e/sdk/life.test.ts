// class: built
import t from 'tap';
import { leadsOneLife } from './life.ts';

t.test('the client of this package leads a life', async (t) => {
  await leadsOneLife(t, 120, ['TypeScript']);
});
