/** The console shows and allows what the operator's token may do, and no more. */
import type { Test } from 'tap';
import { open, openConsole } from '../support/page.ts';
import { makeParent, type World } from '../support/world.ts';

/** Buttons of an account's page and a key's page, by the role that sees them. */
const buttons = {
  viewer: { account: [], key: [] },
  support: { account: ['Suspend'], key: ['Revoke'] },
  admin: {
    account: ['Mint a key', 'Create a sub-account', 'Edit', 'Metadata', 'Suspend'],
    key: ['Rotate', 'Revoke'],
  },
} as const;

export async function roles(t: Test, world: World): Promise<void> {
  const { id, keyId } = await makeParent(world, 'Seen by all');
  const closed = await makeParent(world, 'Closed');
  await world.operator('POST', `/accounts/${closed.id}/suspend`);
  await world.operator('PUT', '/plans/seen', { body: {} });
  for (const role of ['viewer', 'support', 'admin'] as const)
    await t.test(`${role} sees its own buttons; only an admin may delete, and change plans`, async (t) => {
      const { page } = await openConsole(t, world, `accounts/${id}`, role);
      await page.getByRole('banner').getByText(role).first().waitFor();
      const shown = (): Promise<string[]> => page.locator('.heading button').allInnerTexts();
      t.same(await shown(), buttons[role].account, 'of an account');
      await open(page, `keys/${keyId}`);
      t.same(await shown(), buttons[role].key, 'of a key');
      await open(page, `accounts/${closed.id}`);
      t.equal((await shown()).includes('Delete'), role === 'admin', 'of a suspended account');
      await open(page, 'plans');
      await page.getByRole('region', { name: 'Plans' }).getByText('seen').waitFor();
      const change = page
        .locator('main')
        .getByRole('button', { name: /^(Create a plan|(Edit|Delete) seen)$/ });
      t.equal(await change.count(), role === 'admin' ? 3 : 0, 'of plans');
    });

  await t.test('a page that believes in more is refused by the API, and says so', async (t) => {
    const { page } = await openConsole(t, world, '', 'viewer');
    await page.route('**/whoami', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...((await response.json()) as object), role: 'admin' } });
    });
    await open(page, `keys/${keyId}`);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByText('insufficient_role').waitFor();
    const { body } = await world.operator('GET', `/api-keys/${keyId}`);
    t.equal(body['status'], 'active');
  });
}
