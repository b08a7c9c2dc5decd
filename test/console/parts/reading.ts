/** What an operator reads in the console. */
import type { Test } from 'tap';
import { operatorEventTypes } from '../../../src/domain/event.ts';
import { eventually } from '../../support/eventually.ts';
import { open, openConsole } from '../support/page.ts';
import { makeParent, type World } from '../support/world.ts';

export async function reading(t: Test, world: World): Promise<void> {
  await t.test('the overview shows every replica and the newest events', async (t) => {
    const { page, faults } = await openConsole(t, world);
    const replicas = page.getByRole('region', { name: 'Replicas' });
    await replicas.getByText('live').nth(2).waitFor();
    t.equal(await replicas.getByRole('row').count(), 4);
    await page.getByRole('region', { name: 'Events' }).waitFor();
    t.same(faults, []);
  });

  await t.test('a question of explain stays in the address', async (t) => {
    const { id, keyId, subIds } = await makeParent(world, 'Explained Export');
    const { page } = await openConsole(t, world, 'explain');
    await page.getByLabel('Id of the key').fill(keyId);
    await page.getByLabel('Path').fill('/orders');
    await page.getByLabel('Acting header').fill('ext:customer-1');
    await page.getByRole('button', { name: 'Explain' }).click();
    const answer = page.getByRole('region', { name: 'Explanation' });
    await answer.getByText(`It would act as ${subIds[0]}`).waitFor();
    await answer.getByText(/decided by every change up to position [\d,]+, which it had read/).waitFor();
    await page.reload();
    await answer.getByText(`It would act as ${subIds[0]}`).waitFor();
    await page.getByLabel('Acting header').fill('');
    await page.getByRole('button', { name: 'Explain' }).click();
    await answer.getByText('acting_tenant_required').waitFor();
    await page.goBack();
    await answer.getByText(`It would act as ${subIds[0]}`).waitFor();
    t.equal(await page.getByLabel('Acting header').inputValue(), 'ext:customer-1', 'the back button');
    await world.operator('POST', `/accounts/${id}/suspend`);
    await page.reload();
    await answer.getByText('The request is refused with account_suspended').waitFor();
    await open(page, `accounts/${id}/sub-accounts/${subIds[0]}`);
    await page.locator('.trail').getByText('suspended').waitFor();
  });

  await t.test('the live page shows requests of every replica, and those of its filter alone', async (t) => {
    const [watched, other] = [await makeParent(world, 'Watched'), await makeParent(world, 'Not watched')];
    const { page, faults } = await openConsole(t, world, `live?account_id=${watched.id}`);
    await page.getByText('Requests of 3 replicas').waitFor();
    await world.statuses(other.apiKey);
    await world.statuses(watched.apiKey);
    const rows = page.getByRole('region', { name: 'Live requests' }).getByRole('row');
    await rows.nth(3).waitFor();
    t.equal(await rows.count(), 4);
    t.equal(await rows.filter({ hasText: 'GET /orders' }).count(), 3);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused.').waitFor();
    t.same(faults, []);
  });

  await t.test('events of quotas and deletions name their account', async (t) => {
    const { id } = await makeParent(world, 'Deleted Ltd');
    await world.operator('POST', `/accounts/${id}/suspend`);
    t.equal((await world.operator('DELETE', `/accounts/${id}`)).status, 204);
    const quick = await makeParent(world, 'Quota Ltd');
    const limits = { requests_per_month: 5 };
    await world.operator('PATCH', `/accounts/${quick.id}`, { body: { limits } });
    while ((await world.statuses(quick.apiKey)).every((status) => status === 200));
    const { page } = await openConsole(t, world, 'events?type=account.deleted');
    const rows = page.getByRole('region', { name: 'Events' }).getByRole('row');
    await rows.filter({ hasText: 'account.deleted' }).getByRole('link', { name: id }).waitFor();
    const types = await page.getByLabel('Type').getByRole('option').allInnerTexts();
    t.same(types, ['any', ...operatorEventTypes]);
    t.equal(await rows.filter({ hasText: 'created' }).count(), 0);
    await open(page, 'events?type=quota.reached');
    await eventually(async () => {
      await page.reload();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      return (await rows.filter({ hasText: '5 of 5 requests a month' }).count()) > 0;
    });
    t.equal(await rows.getByRole('link', { name: 'null' }).count(), 0);
  });

  await t.test('limits say what may come at once, and events what was added and removed', async (t) => {
    const { id } = await makeParent(world, 'Bursting');
    const patch = async (body: object): Promise<unknown> =>
      world.operator('PATCH', `/accounts/${id}`, { body });
    await patch({ limits: { requests_per_second: 20, burst: 50 } });
    await patch({ metadata: { tier: 'gold' } });
    await patch({ metadata: { tier: null, region: 'eu' } });
    const { page } = await openConsole(t, world, `accounts/${id}?tab=limits`);
    await page.getByRole('cell', { name: '50 requests at once', exact: true }).waitFor();
    await open(page, `accounts/${id}?tab=events`);
    const rows = page.getByRole('region', { name: 'Events' }).getByRole('row');
    const changes = [];
    for (const row of [1, 2, 3])
      changes.push((await rows.nth(row).getByRole('listitem').allInnerTexts()).sort());
    t.same(changes, [
      ['metadata.region: eu', 'metadata.tier: gold'],
      ['metadata.tier: gold'],
      [
        'effective_limits.burst: null → 50',
        'effective_limits.requests_per_second: null → 20',
        'limits.burst: null → 50',
        'limits.requests_per_second: null → 20',
      ],
    ]);
    t.equal(await rows.nth(1).locator('del').innerText(), 'gold');
    t.equal(await rows.nth(1).locator('ins').innerText(), 'eu');
  });
}
