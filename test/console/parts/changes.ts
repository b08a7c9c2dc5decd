/** Changes that an operator makes in the console, and what it says about them. */
import type { Route } from 'playwright-core';
import type { Test } from 'tap';
import { eventually } from '../../support/eventually.ts';
import { open, openConsole } from '../support/page.ts';
import { newKey, receipt } from '../support/receipts.ts';
import { makeParent, type World } from '../support/world.ts';

export async function changes(t: Test, world: World): Promise<void> {
  await t.test('an account is made, edited, suspended and resumed', (t) => accountsLife(t, world));
  await t.test('a key is minted, rotated and revoked, and each receipt is true', (t) => keysLife(t, world));
  await t.test('a sub-account is made, edited, deactivated and reactivated', (t) =>
    subAccountsLife(t, world),
  );
  await t.test('before a change, its dialog says what is open on all replicas', (t) => openNow(t, world));
}

const enforced = /Enforced on 3 replicas in \d+ ms\./;

async function accountsLife(t: Test, world: World): Promise<void> {
  const { page, faults } = await openConsole(t, world, 'accounts');
  await page.getByRole('button', { name: 'Create an account' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Made in the console');
  await page.getByLabel('External id', { exact: true }).fill('crm-console');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Made in the console' }).click();
  const heading = page.getByRole('heading', { level: 1 });
  await heading.getByText('Made in the console').waitFor();

  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Edited in the console');
  await page.getByLabel('Requests a month').fill('1000');
  await page.getByRole('button', { name: 'Save' }).click();
  t.match(await receipt(page, 'Saved'), enforced);
  await heading.getByText('Edited in the console').waitFor();
  await page.getByRole('link', { name: 'Limits' }).click();
  await page.getByText('1,000 requests a month').waitFor();

  await page.getByRole('button', { name: 'Mint a key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('first');
  await page.getByRole('button', { name: 'Mint', exact: true }).click();
  const { secret } = await newKey(page, 'Minted');
  t.same(await world.statuses(secret), [200, 200, 200]);

  await page.getByRole('button', { name: 'Suspend' }).click();
  await page.getByRole('dialog').getByText('Requests in the last 24 hours').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
  const suspended = await receipt(page, 'Suspended');
  t.same(await world.statuses(secret), [403, 403, 403]);
  t.match(suspended, enforced);
  await heading.getByText('suspended').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
  await receipt(page, 'Resumed');
  t.same(await world.statuses(secret), [200, 200, 200]);

  await page.getByRole('link', { name: 'Events' }).last().click();
  await page.getByText('account.resumed').waitFor();
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.getByRole('img', { name: /^Requests, last 24 hours/ }).waitFor();
  t.same(faults, []);
}

async function keysLife(t: Test, world: World): Promise<void> {
  const { id, keyId, apiKey } = await makeParent(world, 'Keyholder');
  const { page } = await openConsole(t, world, `accounts/${id}?tab=keys`);
  await page.getByRole('link', { name: "Keyholder's key" }).click();
  await page.getByRole('button', { name: 'Rotate' }).click();
  await page.getByLabel('This key ends').selectOption('at once');
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const { secret, said } = await newKey(page, 'Rotated');
  t.match(said, enforced);
  t.same(await world.statuses(apiKey), [401, 401, 401]);
  t.same(await world.statuses(secret), [200, 200, 200]);

  const { body } = await world.operator('GET', `/api-keys?account_id=${id}&status=active`);
  const [replacement] = body['data'] as { id: string; rotated_from: string }[];
  t.equal(replacement?.rotated_from, keyId);
  await open(page, `keys/${replacement?.id}`);
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByText('Last used').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('heading', { name: "Revoked Keyholder's key", exact: true }).waitFor();
  const revoked = await receipt(page, 'Revoked');
  t.same(await world.statuses(secret), [401, 401, 401]);
  t.match(revoked, enforced);
  await page.getByRole('heading', { level: 1 }).getByText('revoked').waitFor();
  t.equal(await page.getByRole('button', { name: 'Revoke' }).count(), 0);
}

async function openNow(t: Test, world: World): Promise<void> {
  const { id, keyId, apiKey, subIds } = await makeParent(world, 'Streaming');
  await world.openStreams(t, apiKey);
  const { page, faults } = await openConsole(t, world);
  const dialog = page.getByRole('dialog');
  const opens = async (hash: string, button: string): Promise<void> => {
    await open(page, hash);
    await page.getByRole('button', { name: button }).click();
  };
  const threeStreams = dialog.getByText('Open now: 0 requests, 3 streams, on 3 replicas.');
  // The count is held until the dialog has been seen to wait for it.
  const held: Route[] = [];
  await page.route('**/live?*', (route) => void held.push(route), { times: 1 });
  await opens(`accounts/${id}`, 'Suspend');
  await dialog.getByText('Open now: counting…').waitFor();
  await eventually(() => held.length > 0);
  await held[0]?.continue();
  await threeStreams.waitFor();
  await page.keyboard.press('Escape');
  await opens(`accounts/${id}/sub-accounts/${subIds[0]}`, 'Deactivate');
  await dialog.getByText('Open now: 0 requests, 0 streams, on 3 replicas.').waitFor();
  await page.keyboard.press('Escape');
  await opens(`keys/${keyId}`, 'Rotate');
  t.equal(await dialog.getByText('Open now').count(), 0, 'the key goes on for a day');
  await page.getByLabel('This key ends').selectOption('at once');
  await threeStreams.waitFor();
  await page.keyboard.press('Escape');
  await page.route('**/live?*', (route) => route.fulfill({ status: 409, json: {} }));
  await opens(`keys/${keyId}`, 'Revoke');
  await dialog.getByText('Its open requests and streams cannot be counted.').waitFor();
  await page.keyboard.press('Escape');
  await page.unroute('**/live?*');
  await opens(`keys/${keyId}`, 'Revoke');
  await threeStreams.waitFor();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  t.match(await receipt(page, 'Revoked'), '3 open streams ended');
  t.same(faults, []);
}

async function subAccountsLife(t: Test, world: World): Promise<void> {
  const { id, apiKey } = await makeParent(world, 'Parental');
  const { page } = await openConsole(t, world, `accounts/${id}`);
  await page.getByRole('button', { name: 'Create a sub-account' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Third customer');
  await page.getByLabel('External id', { exact: true }).fill('third');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Third customer' }).click();
  const heading = page.getByRole('heading', { level: 1 });
  await heading.getByText('Third customer').waitFor();

  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Third customer, renamed');
  await page.getByRole('button', { name: 'Save' }).click();
  await receipt(page, 'Saved');
  await heading.getByText('Third customer, renamed').waitFor();

  const acting = { 'x-service-acting-tenant': 'ext:third' };
  t.same(await world.statuses(apiKey, acting), [200, 200, 200]);
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  const deactivated = await receipt(page, 'Deactivated');
  t.same(await world.statuses(apiKey, acting), [403, 403, 403]);
  t.match(deactivated, enforced);
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
  await receipt(page, 'Reactivated');
  t.same(await world.statuses(apiKey, acting), [200, 200, 200]);
}
