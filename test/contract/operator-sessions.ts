/** What a store does with sessions of operators. */
import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';

export async function operatorSessionContract(t: Test, store: Store): Promise<void> {
  const { operatorSessions: sessions } = store;
  const made = () => ({ digest: randomBytes(32), proof: randomBytes(32) });

  await t.test('a session is found by its digest until it ends', async (t) => {
    const [mine, other] = [made(), made()];
    const expiresAt = await sessions.begin(mine, 3_600_000);
    t.ok(Math.abs(expiresAt.getTime() - Date.now() - 3_600_000) < 60_000, 'by the time of the store');
    await sessions.begin(other, 60_000);
    const found = await sessions.find(mine.digest);
    t.same(found && Buffer.from(found.proof), mine.proof);
    t.same(found?.expiresAt, expiresAt);
    await sessions.end(mine.digest);
    t.equal(await sessions.find(mine.digest), null);
    t.not(await sessions.find(other.digest), null, 'the other goes on');
    await sessions.end(mine.digest);
  });

  await t.test('an expired session is not found, and the next one deletes it', async (t) => {
    const mine = made();
    await sessions.begin(mine, -1_000);
    t.equal(await sessions.find(mine.digest), null);
    await sessions.begin(made(), 60_000);
    // Its primary key is free again, so it was deleted.
    await sessions.begin(mine, 60_000);
    t.not(await sessions.find(mine.digest), null);
  });
}
