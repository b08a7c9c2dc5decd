// class: ui
/** The console shows and allows what the operator's token may do, and no more. */
import t from 'tap';
import { chromium, withoutChromium } from '../support/browser.ts';
import { makeParent, signIn, startWorld, tokens } from './support/world.ts';

const skip = chromium === undefined && withoutChromium;

/** Buttons of an account's page and a key's page, by the role that sees them. */
const buttons = {
  viewer: { account: [], key: [] },
  support: { account: ['Suspend'], key: ['Revoke'] },
  admin: {
    account: ['Mint a key', 'Create a sub-account', 'Edit', 'Metadata', 'Suspend'],
    key: ['Rotate', 'Revoke'],
  },
} as const;

t.test('a role', { skip }, async (t) => {
  const world = await startWorld(t);
  const { id, keyId } = await makeParent(world, 'Seen by all');
  for (const role of ['viewer', 'support', 'admin'] as const)
    await t.test(`${role} sees its own buttons`, async (t) => {
      const { page } = await signIn(world, tokens[role]);
      const base = page.url().split('#')[0];
      await page.getByRole('banner').getByText(role).first().waitFor();
      for (const [part, hash] of [
        ['account', `accounts/${id}`],
        ['key', `keys/${keyId}`],
      ] as const) {
        await page.goto(`${base}#/${hash}`);
        await page.locator('.facts').waitFor();
        const shown = await page.locator('.heading button').allInnerTexts();
        t.same(shown, buttons[role][part], part);
      }
    });

  await t.test('only an admin may delete, and change plans', async (t) => {
    const closed = await makeParent(world, 'Closed');
    await world.operator('POST', `/accounts/${closed.id}/suspend`);
    await world.operator('PUT', '/plans/seen', { body: {} });
    for (const role of ['viewer', 'support', 'admin'] as const) {
      const { page } = await signIn(world, tokens[role]);
      const base = page.url().split('#')[0];
      await page.goto(`${base}#/accounts/${closed.id}`);
      await page.locator('.facts').waitFor();
      const expected = role === 'admin' ? 1 : 0;
      t.equal(await page.getByRole('button', { name: 'Delete' }).count(), expected, role);
      await page.goto(`${base}#/plans`);
      await page.getByRole('region', { name: 'Plans' }).getByText('seen').waitFor();
      t.equal(await page.locator('main button').count(), 3 * expected, role);
    }
  });

  await t.test('a page that believes in more is refused by the API, and says so', async (t) => {
    const { page } = await signIn(world, tokens.viewer);
    await page.route('**/whoami', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...((await response.json()) as object), role: 'admin' } });
    });
    await page.reload();
    await page.goto(`${page.url().split('#')[0]}#/keys/${keyId}`);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByText('insufficient_role').waitFor();
    const { body } = await world.operator('GET', `/api-keys/${keyId}`);
    t.equal(body['status'], 'active');
  });
});
