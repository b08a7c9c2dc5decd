// class: ui
/** An operator at work in the console, in a real browser, before three replicas and 10,000 accounts. */
import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { operatorEventTypes } from '../../src/domain/event.ts';
import { chromium, withoutChromium } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import type { Scope } from '../support/servers.ts';
import { makeParent, open, signIn, startWorld, tokens, type World } from './support/world.ts';

const skip = chromium === undefined && withoutChromium;

t.test('an operator at work', { skip }, async (t) => {
  const world = await startWorld(t);

  await t.test('a wrong token is refused, and the page says so', async (t) => {
    const page = await world.browser.newPage();
    await page.goto(`${world.replicas[0]?.internalUrl}/console/`);
    await page.getByLabel('Operator token').fill('not-a-token-of-anybody');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    t.match(await page.getByRole('alert').innerText(), 'unauthenticated');
    await page.close();
  });

  await t.test('the overview shows every replica and the newest events', async (t) => {
    const { page, faults } = await signIn(world);
    const replicas = page.getByRole('region', { name: 'Replicas' });
    await replicas.getByText('live').nth(2).waitFor();
    t.equal(await replicas.getByRole('row').count(), 4);
    await page.getByRole('region', { name: 'Events' }).waitFor();
    t.same(faults, []);
  });

  await t.test('an account is found by name, id, external id and the id of a sub-account', async (t) => {
    const { id, subIds } = await makeParent(world, 'Findable Freight');
    const externalUuid = '11111111-2222-4333-8444-555555555555';
    const body = { name: 'Münchner Spedition', external_id: externalUuid };
    await world.operator('POST', '/accounts', { body });
    const { page } = await signIn(world);
    for (const [search, name] of [
      ['Findable', 'Findable Freight'],
      ['Findable Freight', 'Findable Freight'],
      [id, 'Findable Freight'],
      [String(subIds[1]), 'Findable Freight'],
      ['crm-7777', 'Company 7777'],
      [externalUuid, 'Münchner Spedition'],
      ['Münchner', 'Münchner Spedition'],
    ] as const) {
      await page.goto(`${page.url().split('#')[0]}#/accounts`);
      await page.reload();
      await page.getByLabel('Name, id or external id').fill(search);
      await page.keyboard.press('Enter');
      const found = page.getByRole('region', { name: 'Accounts' });
      const rows = found.getByRole('row');
      await rows.nth(2).waitFor({ state: 'detached' });
      await rows.nth(1).getByRole('link', { name, exact: true }).waitFor();
      t.equal(await rows.count(), 2, search);
    }
  });

  await t.test('a list is read page by page', async (t) => {
    const { page } = await signIn(world);
    await page.goto(`${page.url().split('#')[0]}#/accounts`);
    const rows = page.getByRole('region', { name: 'Accounts' }).getByRole('row');
    await rows.nth(50).waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await rows.nth(100).waitFor();
    t.equal(await rows.count(), 101);
  });

  await t.test('an account is made, edited, suspended and resumed', (t) => accountsLife(t, world));
  await t.test('a key is minted, rotated and revoked, and each receipt is true', (t) => keysLife(t, world));
  await t.test('a sub-account is made, edited, deactivated and reactivated', (t) =>
    subAccountsLife(t, world),
  );

  await t.test('before a change, its dialog says what is open on all replicas', (t) => openNow(t, world));

  await t.test('a question of explain stays in the address', async (t) => {
    const { id, keyId, subIds } = await makeParent(world, 'Explained Export');
    const { page } = await signIn(world);
    await page.getByRole('link', { name: 'Explain', exact: true }).click();
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
    const { page, faults } = await signIn(world);
    await page.goto(`${page.url().split('#')[0]}#/live?account_id=${watched.id}`);
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

  await t.test('a session that ends under a page is begun again, and the page stays', async (t) => {
    const { id } = await makeParent(world, 'Kept Open');
    const { page } = await signIn(world);
    await page.goto(`${page.url().split('#')[0]}#/accounts/${id}`);
    await page.getByRole('button', { name: 'Mint a key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('half typed');
    const cookies = await page.context().cookies(`${world.replicas[0]?.internalUrl}/admin/v1/whoami`);
    await page.context().clearCookies();
    t.equal(cookies.length, 1);
    await page.getByRole('button', { name: 'Mint', exact: true }).click();
    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    await again.getByLabel('Operator token').fill(tokens.admin);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.waitFor({ state: 'detached' });
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'half typed');
    await page.getByRole('button', { name: 'Mint', exact: true }).click();
    await page.locator('.secrets').waitFor();
    await page.keyboard.press('Enter');
    t.equal(await page.locator('.secrets').count(), 1, 'Enter does not close what shows a secret');
  });

  await t.test('a change whose response was lost takes effect once when it is repeated', async (t) => {
    const { id } = await makeParent(world, 'Repeating');
    const { page } = await signIn(world);
    await page.goto(`${page.url().split('#')[0]}#/accounts/${id}`);
    await page.getByRole('button', { name: 'Create a sub-account' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Only once');
    await page.route('**/sub-accounts', async (route) => {
      await route.fetch();
      await route.abort();
    });
    const create = page.getByRole('button', { name: 'Create', exact: true });
    await create.click();
    await page.getByText('The change may have been made.').waitFor();
    await page.unroute('**/sub-accounts');
    await create.click();
    await receipt(page, 'Created');
    const { body } = await world.operator('GET', `/accounts/${id}/sub-accounts?q=Only`);
    t.equal((body['data'] as unknown[]).length, 1);
  });

  await t.test('Cancel gives the focus back, and an edit without changes is no error', async (t) => {
    const { id } = await makeParent(world, 'Unchanged');
    const { page } = await signIn(world);
    await page.goto(`${page.url().split('#')[0]}#/accounts/${id}`);
    const edit = page.getByRole('button', { name: 'Edit' });
    await edit.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await edit.and(page.locator(':focus')).waitFor();
    await edit.click();
    await page.getByRole('dialog').getByLabel('Plan').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await receipt(page, 'Saved');
    t.match(await page.title(), 'Unchanged');
  });

  await t.test('events of quotas and deletions name their account', async (t) => {
    const { id } = await makeParent(world, 'Deleted Ltd');
    await world.operator('POST', `/accounts/${id}/suspend`);
    t.equal((await world.operator('DELETE', `/accounts/${id}`)).status, 204);
    const quick = await makeParent(world, 'Quota Ltd');
    const limits = { requests_per_month: 5 };
    await world.operator('PATCH', `/accounts/${quick.id}`, { body: { limits } });
    while ((await world.statuses(quick.apiKey)).every((status) => status === 200));
    const { page } = await signIn(world);
    await page.goto(`${page.url().split('#')[0]}#/events?type=account.deleted`);
    const rows = page.getByRole('region', { name: 'Events' }).getByRole('row');
    await rows.filter({ hasText: 'account.deleted' }).getByRole('link').waitFor();
    const types = await page.getByLabel('Type').getByRole('option').allInnerTexts();
    t.same(types, ['any', ...operatorEventTypes]);
    t.equal(await rows.filter({ hasText: 'created' }).count(), 0);
    await page.goto(`${page.url().split('#')[0]}#/events?type=quota.reached`);
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
    const { page } = await signIn(world);
    await open(page, `accounts/${id}?tab=limits`);
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

  await t.test('a page says it when the gateway cannot be reached, and goes on when it can', async (t) => {
    const { page } = await signIn(world);
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Accounts' }).click();
    await page.getByText('The gateway cannot be reached.').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Accounts' }).waitFor();
    t.pass();
  });

  await t.test('a sign-out ends the session', async (t) => {
    const { page } = await signIn(world);
    const [cookie] = await page.context().cookies(`${world.replicas[0]?.internalUrl}/admin/v1/whoami`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Operator token').waitFor();
    const headers = { cookie: `${cookie?.name}=${cookie?.value}` };
    const after = await fetch(`${world.replicas[1]?.internalUrl}/admin/v1/whoami`, { headers });
    t.equal(after.status, 401, 'on another replica');
  });
});

type Test = Pick<typeof t, 'equal' | 'same' | 'match' | 'pass'>;

/** Waits for the receipt in the open dialog, and closes the dialog. */
async function receipt(page: Page, done: string, dismiss = 'Close'): Promise<string> {
  const shown = page.getByRole('dialog').locator('.receipt', { hasText: `${done}.` });
  await shown.waitFor();
  const text = await shown.innerText();
  await page.getByRole('button', { name: dismiss }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return text;
}

/** Reads a new key in the open dialog, which no Escape closes; its own button does. @returns the key and the receipt */
async function newKey(page: Page, done: string): Promise<{ readonly secret: string; readonly said: string }> {
  const shown = page.getByRole('dialog').locator('.secrets code').first();
  await shown.waitFor();
  for (const key of ['Escape', 'Escape', 'Enter']) await page.keyboard.press(key);
  const secret = await shown.innerText();
  return { secret, said: await receipt(page, done, 'I have copied it') };
}

const enforced = /Enforced on 3 replicas in \d+ ms\./;

async function accountsLife(t: Test, world: World): Promise<void> {
  const { page, faults } = await signIn(world);
  await page.getByRole('link', { name: 'Accounts' }).click();
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
  const { page } = await signIn(world);
  await page.goto(`${page.url().split('#')[0]}#/accounts/${id}?tab=keys`);
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
  await page.goto(`${page.url().split('#')[0]}#/keys/${replacement?.id}`);
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

async function openNow(t: Test & Scope, world: World): Promise<void> {
  const { id, keyId, apiKey, subIds } = await makeParent(world, 'Streaming');
  await world.openStreams(t, apiKey);
  const { page, faults } = await signIn(world);
  const base = page.url().split('#')[0];
  const dialog = page.getByRole('dialog');
  const opens = async (hash: string, button: string): Promise<void> => {
    await page.goto(`${base}#/${hash}`);
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
  const { page } = await signIn(world);
  await page.goto(`${page.url().split('#')[0]}#/accounts/${id}`);
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
