/** Every page and every dialog of the portal for everybody. */
import type { Test } from 'tap';
import { inTwoViews, looked } from '../../support/accessibility.ts';
import { goTo, openPortal, type PortalWorld } from '../support/world.ts';

/** @param axeIn in which views axe-core looks */
export async function accessibility(t: Test, world: PortalWorld, axeIn = inTwoViews): Promise<void> {
  const { id } = world.customers[0];
  const { body } = await world.parent('POST', `/${id}/api-keys`, {
    body: { name: 'Warehouse import', scopes: ['shipments:read'] },
  });
  for (let i = 0; i < 5; i += 1) await world.statuses(String(body['api_key']));
  const key = `sub-accounts/${id}/keys/${String(body['id'])}`;

  await t.test('every page', async (t) => {
    const { page, faults } = await openPortal(t, world, {});
    for (const [name, hash] of Object.entries({
      'sub-accounts': '',
      'no-match': 'sub-accounts?q=nobody',
      'sub-account': `sub-accounts/${id}`,
      usage: `sub-accounts/${id}?tab=usage`,
      limits: `sub-accounts/${id}?tab=limits`,
      events: `sub-accounts/${id}?tab=events`,
      key,
      'all-usage': 'usage',
      'all-events': 'events',
      'no-such-page': 'nothing',
      'no-such-sub-account': 'sub-accounts/00000000-0000-7000-8000-000000000000',
    })) {
      await goTo(page, hash);
      const alerts = name === 'no-such-sub-account' ? 1 : 0;
      t.equal(await page.getByRole('alert').count(), alerts, `${name}: errors`);
      await looked(t, page, name, axeIn);
    }
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'You have left' }).waitFor();
    await looked(t, page, 'left', axeIn);
    await page.goto(`${world.url}#${'x'.repeat(43)}`);
    await page.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
    await looked(t, page, 'refused', axeIn);
    t.same(faults, []);
  });

  await t.test('every dialog', async (t) => {
    const { page, faults } = await openPortal(t, world, {});
    for (const [hash, button] of [
      [`sub-accounts/${id}`, 'Mint a key'],
      [key, 'Rotate'],
      [key, 'Revoke'],
    ] as const) {
      await goTo(page, hash);
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('dialog').waitFor();
      await looked(t, page, `dialog ${button}`, axeIn);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    t.same(faults, []);
  });
}
