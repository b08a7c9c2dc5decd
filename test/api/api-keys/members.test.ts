// class: app
import t from 'tap';
import type { Static } from 'typebox';
import type { mintBody, rotateBody, updateBody } from '../../../src/api/api-keys/resource.ts';
import { startApis } from '../../support/apis.ts';

/** A value for each member; a new member does not compile without one. */
const mint: Required<Static<typeof mintBody>> = {
  name: 'Warehouse',
  scopes: ['tracking:read'],
  expires_at: '2098-01-01T00:00:00.000Z',
  limits: { requests_per_second: 5, burst: 9, requests_per_minute: 70 },
};
const update: Required<Static<typeof updateBody>> = {
  name: 'Warehouse North',
  expires_at: '2099-01-01T00:00:00.000Z',
  limits: { requests_per_second: 6, burst: 10, requests_per_minute: 80 },
};
const rotate: Required<Static<typeof rotateBody>> = {
  expires_in: 60,
  expires_at: '2099-06-01T00:00:00.000Z',
};

const apis = await startApis(t);

t.test('each member of a mint, a PATCH and a rotation is stored, shown and in the event', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  const path = `/${child.id}/api-keys`;
  const listed = async (id: unknown): Promise<object | undefined> => {
    const { data } = (await parent.call('GET', path)).body as { data: { id: string }[] };
    return data.find((key) => key.id === id);
  };
  const inEvent = async (type: string, id: unknown): Promise<object | undefined> => {
    const events = await apis.call('GET', `/v1/sub-accounts/events?type=${type}`, { key: parent.key });
    const { data } = events.body as { data: { data: { object: { id: string } } }[] };
    return data.map((event) => event.data.object).find((object) => object.id === id);
  };

  const minted = await parent.call('POST', path, { body: mint });
  const { id } = minted.body;
  t.match(minted, { status: 201, body: mint });
  t.match(await listed(id), mint);
  t.match(await inEvent('api_key.created', id), mint);

  t.match(await parent.call('PATCH', `${path}/${String(id)}`, { body: update }), {
    status: 200,
    body: update,
  });
  t.match(await listed(id), { ...mint, ...update });
  t.match(await inEvent('api_key.updated', id), { ...mint, ...update });

  const rotated = await parent.call('POST', `${path}/${String(id)}/rotate`, { body: rotate });
  const replacement = { ...mint, ...update, expires_at: rotate.expires_at, rotated_from: id };
  t.match(rotated, { status: 201, body: replacement });
  t.match(await listed(rotated.body['id']), replacement);
  t.match(await inEvent('api_key.rotated', rotated.body['id']), replacement);
});

t.test('a PATCH with one member keeps the others', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  const path = `/${child.id}/api-keys`;
  for (const [member, value] of Object.entries(update)) {
    const { id } = (await parent.call('POST', path, { body: mint })).body;
    const changed = await parent.call('PATCH', `${path}/${String(id)}`, { body: { [member]: value } });
    t.match(changed, { status: 200, body: { ...mint, [member]: value } }, member);
  }
});
