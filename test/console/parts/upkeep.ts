// class: ui
/** Plans, metadata and deletions in the console, by keyboard where a form has more than one control. */
import type { Test } from 'tap';
import { open, openConsole } from '../support/page.ts';
import { receipt } from '../support/receipts.ts';
import { makeParent, type World } from '../support/world.ts';

/** @param world without plans */
export async function upkeep(t: Test, world: World): Promise<void> {
  await t.test('a plan is made, given to an account, changed and deleted', (t) => plansLife(t, world));
  await t.test('metadata is added, changed and removed, and nothing else is sent', (t) => metadata(t, world));
  await t.test('a suspended account is deleted once its name is typed, and its erasure is shown', (t) =>
    accountDeleted(t, world),
  );
  await t.test('a deactivated sub-account is deleted, and its parent stays', (t) =>
    subAccountDeleted(t, world),
  );
}

async function plansLife(t: Test, world: World): Promise<void> {
  const { id, apiKey } = await makeParent(world, 'Planned');
  await world.statuses(apiKey);
  const { page, faults } = await openConsole(t, world, 'plans');
  await page.getByText('There are no plans.').waitFor();
  const create = page.getByRole('button', { name: 'Create a plan' });
  await create.click();
  await page.getByLabel('Name').fill('silver');
  await page.getByLabel('Requests a month').fill('1000');
  await page.getByLabel('Active keys, at most').fill('3');
  await page.keyboard.press('Enter');
  await receipt(page, 'Created');
  const row = page.getByRole('region', { name: 'Plans' }).getByRole('row').filter({ hasText: 'silver' });
  await row.getByText('1,000 requests a month').waitFor();

  await create.click();
  await page.getByLabel('Name').fill('silver');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('There is a plan with this name.').waitFor();
  await page.keyboard.press('Escape');
  await world.operator('PATCH', `/accounts/${id}`, { body: { plan: 'silver' } });

  await page.getByRole('button', { name: 'Edit silver' }).click();
  await page.getByLabel('Requests a month').fill('2000');
  await page.keyboard.press('Enter');
  t.match(await receipt(page, 'Saved'), /Enforced on 3 replicas in \d+ ms\./);
  const { body } = await world.operator('GET', '/plans/silver');
  t.match(body, { max_api_keys: 3, limits: { requests_per_month: 2000, requests_per_day: null } });

  await page.getByRole('button', { name: 'Delete silver' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByText('plan_in_use').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Accounts with silver' }).click();
  const accounts = page.getByRole('region', { name: 'Accounts' });
  await accounts.getByRole('link', { name: 'Planned', exact: true }).waitFor();
  t.equal(await accounts.getByRole('row').count(), 2, 'this one alone');

  await world.operator('PATCH', `/accounts/${id}`, { body: { plan: null } });
  await open(page, 'plans');
  await page.getByRole('button', { name: 'Delete silver' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await receipt(page, 'Deleted');
  await page.getByText('There are no plans.').waitFor();
  t.equal((await world.operator('GET', '/plans/silver')).status, 404);
  t.same(faults, []);
}

async function metadata(t: Test, world: World): Promise<void> {
  const { id, subIds } = await makeParent(world, 'Described');
  const { page, faults } = await openConsole(t, world);
  for (const [hash, path] of [
    [`accounts/${id}`, `/accounts/${id}`],
    [`accounts/${id}/sub-accounts/${subIds[0]}`, `/accounts/${id}/sub-accounts/${subIds[0]}`],
  ] as const) {
    await world.operator('PATCH', path, { body: { metadata: { kept: 'as it is', old: 'x', gone: 'y' } } });
    const sent: unknown[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent.push(request.postDataJSON());
    });
    await open(page, hash);
    const shown = page.getByRole('region', { name: 'Metadata' });
    await shown.getByText('as it is').waitFor();
    await page.getByRole('button', { name: 'Metadata' }).click();
    const pair = (name: string) =>
      page
        .getByRole('dialog')
        .getByRole('group')
        .filter({ has: page.locator(`input[value="${name}"]`) });
    await pair('old').getByLabel('Value').fill('new');
    await pair('gone').getByRole('button').press('Enter');
    const add = page.getByRole('button', { name: 'Add a pair' });
    await add.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('kept');
    await page.keyboard.press('Tab');
    await page.keyboard.type('added value');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Two pairs have the same name.').waitFor();
    await page.getByRole('dialog').getByLabel('Name').last().fill('added');
    await page.keyboard.press('Enter');
    await receipt(page, 'Saved');
    await shown.getByText('added value').waitFor();
    const { body } = await world.operator('GET', path);
    t.same(body['metadata'], { kept: 'as it is', old: 'new', added: 'added value' });
    t.same(sent.splice(0), [{ metadata: { gone: null, old: 'new', added: 'added value' } }]);
    page.removeAllListeners('request');
    await page.getByRole('button', { name: 'Metadata' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await receipt(page, 'Saved');
  }
  t.same(faults, []);
}

async function accountDeleted(t: Test, world: World): Promise<void> {
  const { id, apiKey } = await makeParent(world, 'Doomed "Ltd" (x)');
  await world.statuses(apiKey);
  const { page, faults } = await openConsole(t, world, `accounts/${id}`);
  t.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0, 'not while it is active');
  await world.operator('POST', `/accounts/${id}/suspend`);
  await open(page, `accounts/${id}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  const name = page.getByRole('dialog').getByLabel('Name of the account');
  for (const wrong of ['', 'Doomed']) {
    await name.fill(wrong);
    await name.press('Enter');
    t.equal((await world.operator('GET', `/accounts/${id}`)).status, 200, `not for "${wrong}"`);
  }
  await name.fill('Doomed "Ltd" (x)');
  await name.press('Enter');
  const deleted = page.getByRole('dialog').locator('.receipt', { hasText: 'Deleted.' });
  await deleted.waitFor();
  t.match(await deleted.innerText(), /Enforced on 3 replicas in \d+ ms\./);
  t.same(await world.statuses(apiKey), [401, 401, 401]);
  await page.getByRole('region', { name: 'Erasure' }).getByText('Erased so far').waitFor();
  await page.getByRole('link', { name: 'Follow the erasure' }).click();
  await page.getByRole('heading', { name: 'Deleted account' }).waitFor();
  await page.getByText(/^names, metadata and addresses are/).waitFor();
  await open(page, 'events?type=account.deleted');
  const row = page.getByRole('region', { name: 'Events' }).getByRole('row').nth(1);
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: 'Deleted account' }).waitFor();
  t.match(page.url(), `#/erasures/${id}`);
  t.same(faults, []);
}

async function subAccountDeleted(t: Test, world: World): Promise<void> {
  const { id, subIds } = await makeParent(world, 'Keeps one');
  const path = `/accounts/${id}/sub-accounts/${subIds[0]}`;
  await world.operator('POST', `${path}/deactivate`);
  const { page, faults } = await openConsole(t, world, `accounts/${id}/sub-accounts/${subIds[0]}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name of the account').fill('Keeps one, customer 1');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await receipt(page, 'Deleted');
  await page.getByRole('heading', { level: 1, name: 'Keeps one' }).waitFor();
  await page.getByRole('link', { name: 'Keeps one, customer 2' }).waitFor();
  t.equal(await page.getByRole('link', { name: 'Keeps one, customer 1' }).count(), 0);
  t.equal((await world.operator('GET', path)).status, 404);
  t.same(faults, []);
}
