// class: night
import t from 'tap';
import { leadsOneLife } from './life.ts';

t.test('three clients lead one life', { timeout: 900_000 }, async (t) => {
  await leadsOneLife(t, 1_000, ['TypeScript', 'Python', 'Go']);
});
