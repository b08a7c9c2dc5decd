/** A customer's work on keys in the portal, by keyboard where people use one. */
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { tabTo } from '../../support/keyboard.ts';
import { mint, secretOf } from '../support/secrets.ts';
import { goTo, openPortal, type PortalWorld } from '../support/world.ts';

export async function keys(t: Test, world: PortalWorld): Promise<void> {
  await t.test('a key is minted, rotated and revoked by keyboard alone', async (t) => {
    const { page, faults } = await openPortal(t, world);
    const { keyboard } = page;
    const press = async (name: string, within: Pick<Page, 'getByRole'> = page): Promise<void> => {
      await tabTo(page, within.getByRole('button', { name, exact: true }));
      await keyboard.press('Enter');
    };
    const dialog = page.getByRole('dialog');
    await press('Mint a key');
    await tabTo(page, dialog.getByLabel('Name'));
    await keyboard.type('Warehouse import');
    await tabTo(page, dialog.getByLabel('shipments:read'));
    await keyboard.press('Space');
    await keyboard.press('Enter');
    const first = await secretOf(page);
    t.same(await world.statuses(first), [200, 200], 'it works on every replica');
    t.match(await dialog.innerText(), /In force everywhere/);
    await press('I have copied it');
    await dialog.waitFor({ state: 'detached' });

    await tabTo(page, page.getByRole('link', { name: 'Warehouse import' }));
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Warehouse import' }).waitFor();
    await press('Rotate');
    await tabTo(page, dialog.getByLabel('This key ends'));
    await keyboard.type('at once');
    await press('Rotate', dialog);
    const second = await secretOf(page);
    t.same(await world.statuses(first), [401, 401]);
    t.same(await world.statuses(second), [200, 200]);
    await press('I have copied it');
    await dialog.waitFor({ state: 'detached' });

    await goTo(page, '');
    await page
      .getByRole('row', { name: /active.*shipments:read/ })
      .getByRole('link')
      .focus();
    await keyboard.press('Enter');
    await press('Revoke');
    await dialog.getByText(/Last used/).waitFor();
    await dialog.getByText(/last 24 hours: \d/).waitFor();
    await press('Revoke', dialog);
    await page.getByText(/In force everywhere \(2 replicas, \d+ ms\)/).waitFor();
    t.same(await world.statuses(second), [401, 401]);
    await press('Close');
    await page.getByText('revoked', { exact: true }).waitFor();
    t.same(faults, []);
  });

  await t.test('nothing but its button closes a new secret', async (t) => {
    const { page } = await openPortal(t, world);
    await mint(page, 'Kept');
    for (const key of ['Enter', 'Escape', 'Escape', 'Enter', 'Escape', 'Escape']) {
      await page.keyboard.press(key);
      t.ok(await page.getByRole('dialog').isVisible(), key);
    }
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  await t.test('a mint whose response is lost makes one key, and says that nobody has it', async (t) => {
    const { page } = await openPortal(t, world);
    let lost = 0;
    await page.route(/\/api-keys$/, async (route) => {
      if (route.request().method() !== 'POST' || lost > 0) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort();
    });
    await page.getByRole('button', { name: 'Mint a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Lost');
    await page.keyboard.press('Enter');
    await dialog.getByText('The change may have been made.').waitFor();
    await dialog.getByRole('button', { name: 'Mint', exact: true }).click();
    await dialog.getByText('Nobody can see the key any more').waitFor();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('link', { name: 'Lost' }).waitFor();
    t.equal(await page.getByRole('link', { name: 'Lost' }).count(), 1);
  });

  await t.test('a key with a scope that the session may not give cannot be rotated', async (t) => {
    const { page } = await openPortal(t, world);
    await page.getByRole('link', { name: 'Old script' }).click();
    const rotate = page.getByRole('button', { name: 'Rotate' });
    await rotate.waitFor();
    t.ok(await rotate.isDisabled());
    await page.getByText(/it has the scope everything/).waitFor();
    t.notOk(await page.getByRole('button', { name: 'Revoke' }).isDisabled());
  });
}
