// class: app
/** Strangers who send the portal many wrong tokens and links: they wait in one line, which nobody else is in. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { createParent, freshStore, problemCode } from '../support/store.ts';

/** More than may wait for the store in one line. */
const many = 1_400;

t.test('operators and parents get the store while strangers wait for it', async (t) => {
  const { store } = await freshStore(t);
  const { id } = await createParent(store.tenants);
  const wrong = Array.from({ length: many }, (_, index) =>
    problemCode(
      index % 2 === 0
        ? store.portalSessions.find(randomBytes(32))
        : store.portalSessions.redeem(randomBytes(32), randomBytes(32), 60_000),
    ),
  );
  const theirs = await Promise.all([
    problemCode(store.tenants.getParent(id)),
    problemCode(store.tenants.getParent(id, id)),
    problemCode(store.ping()),
  ]);
  t.same(theirs, [undefined, undefined, undefined], 'nobody else is turned away');
  const codes = await Promise.all(wrong);
  t.ok(codes.includes('too_many_requests'), 'but strangers are, so they were too many');
});
