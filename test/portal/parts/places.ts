/** What a customer sees in the portal. */
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import type { AccountId } from '../../../src/domain/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { mint } from '../support/secrets.ts';
import { accent, goTo, openPortal, type PortalWorld } from '../support/world.ts';

export async function places(t: Test, world: PortalWorld): Promise<void> {
  const [northwind, fabrikam] = world.customers;
  const bound = (t: Test, permissions: readonly string[]) =>
    openPortal(t, world, { sub_account_id: northwind.id, permissions });
  await t.test('the page offers what the session may do, and nothing else', async (t) => {
    const tabs = async (page: Page): Promise<string[]> =>
      page.getByRole('navigation', { name: 'Sub-account' }).getByRole('link').allInnerTexts();
    const usage = (await bound(t, ['usage:read'])).page;
    await usage.getByRole('heading', { name: northwind.name }).waitFor();
    t.same(await tabs(usage), ['Usage', 'Limits']);
    const reader = (await bound(t, ['keys:read', 'events:read'])).page;
    await reader.getByRole('link', { name: 'Old script' }).click();
    await reader.getByRole('heading', { name: 'Old script' }).waitFor();
    for (const name of ['Rotate', 'Revoke', 'Mint a key'])
      t.equal(await reader.getByRole('button', { name }).count(), 0, name);
    await goTo(reader, '');
    t.same(await tabs(reader), ['Keys', 'Events']);
    const writer = (await bound(t, ['keys:write'])).page;
    await writer.getByText('Your session may mint keys, but not list them.').waitFor();
    await mint(writer, 'Unlisted');
  });

  await t.test('sub-accounts are found by name and id, and opened by id without a list', async (t) => {
    const { page } = await openPortal(t, world, {});
    const search = page.getByLabel('Beginning of the name, or id');
    await search.fill('fab');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: northwind.name }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: fabrikam.name }).waitFor();
    await search.fill(northwind.id);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: northwind.name }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Sub-accounts' }).waitFor();
    const { page: unlisted } = await openPortal(t, world, { permissions: ['keys:read'] });
    await unlisted.getByLabel('Id of the sub-account').fill(northwind.id);
    await unlisted.keyboard.press('Enter');
    await unlisted.getByRole('link', { name: 'Old script' }).waitFor();
    t.pass();
  });

  await t.test('each part of a page has an address, and the back button goes through them', async (t) => {
    const { page } = await openPortal(t, world);
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.getByText('1,000 requests a month').waitFor();
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByRole('region', { name: 'Events' }).getByText('Key minted').first().waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('img', { name: /^Requests, last 24 hours: \d+ in all/ }).waitFor();
    await page.getByRole('combobox', { name: 'Time' }).selectOption('last 30 days');
    await page.getByRole('img', { name: /^Requests, last 30 days/ }).waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByText('1,000 requests a month').waitFor();
    t.match(page.url(), /#\/\?tab=limits$/);
  });

  await t.test('texts of customers are shown as they are', async (t) => {
    const name = `<img src=x onerror="document.documentElement.dataset.hit='1'">`;
    const made = await world.parent('POST', '', { body: { name } });
    const id = String(made.body['id']);
    const { page, faults } = await openPortal(t, world, { sub_account_id: id, user: name });
    await mint(page, name);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    for (const place of ['', '?tab=events']) {
      await goTo(page, place);
      await page.getByRole('link', { name }).first().waitFor();
      t.equal(await page.getByRole('heading', { level: 1 }).innerText(), `${name} active`);
      t.equal(await page.locator('img, html[data-hit]').count(), 0);
    }
    t.same(faults, []);
  });

  await t.test('the names of a deleted sub-account are gone from its events', async (t) => {
    const made = await world.parent('POST', '', { body: { name: 'Short-lived' } });
    const id = String(made.body['id']);
    const key = await world.parent('POST', `/${id}/api-keys`, { body: { name: 'Leaver', scopes: [] } });
    await world.parent('POST', `/${id}/deactivate`);
    t.match(await world.parent('DELETE', `/${id}`), { status: 204 });
    await eventually(async () => {
      while ((await world.store.erasures.run({ settledMs: 0, most: 100 })) !== null);
      return (await world.store.erasures.get(id as AccountId))?.erasedAt !== null;
    });
    const { page } = await openPortal(t, world, {});
    await goTo(page, 'events');
    const events = page.getByRole('region', { name: 'Events' });
    t.equal(await events.getByRole('link', { name: String(key.body['id']) }).count(), 1);
    t.match(await events.getByRole('row', { name: 'Sub-account deleted' }).innerText(), id);
    t.equal(await events.getByRole('link', { name: /^(null|Leaver|Short-lived)$/ }).count(), 0);
  });

  await t.test('the page has the brand of the provider', async (t) => {
    const { page } = await openPortal(t, world);
    await page.getByRole('button', { name: 'Mint a key' }).waitFor();
    t.equal(await page.title(), `${northwind.name} · Acme Shipping`);
    t.equal(
      await page.evaluate(`getComputedStyle(document.querySelector('.primary')).backgroundColor`),
      accent,
    );
    const link = page.getByRole('link', { name: 'Documentation' });
    t.equal(await link.getAttribute('href'), 'https://docs.example/');
  });
}

export async function errors(t: Test, world: PortalWorld): Promise<void> {
  await t.test('a portal that cannot be reached is tried again', async (t) => {
    const { page } = await openPortal(t, world);
    await page.route(/\/limits/, (route) => route.abort());
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.getByText('The portal cannot be reached.').waitFor();
    await page.unroute(/\/limits/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('1,000 requests a month').waitFor();
    t.pass();
  });

  await t.test('a rejected change says why, and the form stays as it is', async (t) => {
    const { page } = await openPortal(t, world);
    await page.getByRole('button', { name: 'Mint a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Late');
    await dialog.getByLabel('Expires').fill('2020-01-01T00:00');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').getByText('must lie in the future').first().waitFor();
    t.equal(await dialog.getByLabel('Name').inputValue(), 'Late');
  });
}
