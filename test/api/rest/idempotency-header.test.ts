// class: app
/** How an `Idempotency-Key` may read. */
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { subAccounts } from '../../support/idempotent-calls.ts';

const apis = await startApis(t);

t.test(
  'the key must be 1 to 255 visible ASCII characters, sent once; on reads it means nothing',
  async (t) => {
    const parent = await apis.parent();
    const { id } = await parent.create();
    const create = (headers: readonly (readonly [string, string])[]) =>
      parent.call('POST', '', { headers, body: { name: 'A' } });
    const wrong: readonly (readonly [string, string])[][] = [
      [['Idempotency-Key', '']],
      [['Idempotency-Key', 'a b']],
      [['Idempotency-Key', 'é']],
      [['Idempotency-Key', 'x'.repeat(256)]],
      [
        ['Idempotency-Key', 'a'],
        ['idempotency-key', 'a'],
      ],
    ];
    for (const headers of wrong) {
      for (const response of [
        await create(headers),
        await parent.call('POST', `/${id}/deactivate`, { headers }),
        await parent.call('POST', `/${id}/api-keys`, { headers, body: { name: 'k' } }),
      ]) {
        t.match(response, {
          status: 400,
          body: { code: 'invalid_request', errors: [{ pointer: 'Idempotency-Key' }] },
        });
      }
    }
    t.equal((await subAccounts(parent)).length, 1);
    for (const key of ['x', '!"#~', 'x'.repeat(255)]) {
      t.equal((await create([['Idempotency-Key', key]])).status, 201);
    }
    for (const method of ['GET', 'PATCH']) {
      const options = {
        headers: { 'Idempotency-Key': 'a b' },
        ...(method === 'PATCH' && { body: { name: 'N' } }),
      };
      t.equal((await parent.call(method, `/${id}`, options)).status, 200);
    }
  },
);
