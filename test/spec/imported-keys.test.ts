// class: app
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startReplicas } from '../support/replicas.ts';

// Keys that are in use before they are imported: one replica remembers them as unknown while another one imports them.

t.test('a key that every replica remembers as unknown is accepted by each from the 2xx on', async (t) => {
  const {
    call,
    manage,
    operator,
    parent: newParent,
    last,
  } = await startReplicas(t, 'authentication: { headers: [X-API-Key] }');
  const parent = await newParent();
  const child = await parent.create();
  for (let round = 0; round < 20; round++) {
    const keys = Array.from({ length: 5 }, () => `acme_live_${randomUUID()}`);
    for (const key of keys)
      for (const from of [call, manage])
        t.match(await from('GET', '/x', { key }), { status: 401, body: { code: 'invalid_api_key' } });
    const imported = await operator('POST', `/accounts/${parent.id}/api-keys/import`, {
      body: { keys: keys.map((key) => ({ api_key: key, name: 'Theirs', sub_account_id: child.id })) },
    });
    t.match(imported, {
      status: 200,
      headers: { 'x-service-enforced': /^replicas=2; ms=\d+$/ },
      body: { imported: 5 },
    });
    for (const from of [call, manage]) {
      const responses = await Promise.all(
        keys.map((key, i) => from('GET', '/x', i % 2 === 0 ? { key } : { headers: { 'X-API-Key': key } })),
      );
      t.ok(responses.every(({ status }) => status === 200));
      t.equal(last().values('x-service-caller-tenant')[0], child.id);
    }
  }
});
