/** Accounts are found among many. */
import type { Test } from 'tap';
import { open, openConsole } from '../support/page.ts';
import { makeParent, type World } from '../support/world.ts';

/** @param world with more than 100 accounts */
export async function finding(t: Test, world: World): Promise<void> {
  await t.test('an account is found by name, id, external id and the id of a sub-account', async (t) => {
    const { id, subIds } = await makeParent(world, 'Findable Freight');
    const externalUuid = '11111111-2222-4333-8444-555555555555';
    const body = { name: 'Münchner Spedition', external_id: externalUuid };
    await world.operator('POST', '/accounts', { body });
    // No other one begins like it.
    const late = world.accounts - 23;
    const { page } = await openConsole(t, world);
    for (const [search, name] of [
      ['Findable', 'Findable Freight'],
      ['Findable Freight', 'Findable Freight'],
      [id, 'Findable Freight'],
      [String(subIds[1]), 'Findable Freight'],
      [`crm-${late}`, `Company ${late}`],
      [externalUuid, 'Münchner Spedition'],
      ['Münchner', 'Münchner Spedition'],
    ] as const) {
      await open(page, 'accounts');
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
    const { page } = await openConsole(t, world, 'accounts');
    const rows = page.getByRole('region', { name: 'Accounts' }).getByRole('row');
    await rows.nth(50).waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await rows.nth(100).waitFor();
    t.equal(await rows.count(), 101);
  });
}
