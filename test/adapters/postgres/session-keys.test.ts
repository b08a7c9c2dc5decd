// class: app
import t from 'tap';
import { freshStore } from '../../support/store.ts';

t.test('a new key of the portal makes secrets only once every replica has read it', async (t) => {
  const { store, sql } = await freshStore(t);
  const keys = () => store.portalSessions.keys();
  await sql`update session_key set made_at = now() - interval '1 hour'`;
  const [old] = await keys();
  await sql`insert into session_key default values`;
  const [first, second] = await keys();
  t.same(first, old);
  await sql`update session_key set made_at = made_at - interval '61 s'`;
  t.same(await keys(), [second, old]);
});
