/** Sessions of operators, and pages whose calls fail. */
import type { Test } from 'tap';
import { open, openConsole, signIn } from '../support/page.ts';
import { receipt } from '../support/receipts.ts';
import { makeParent, tokens, type World } from '../support/world.ts';

export async function sessions(t: Test, world: World): Promise<void> {
  await t.test('a wrong token is refused, and the page says so', async (t) => {
    const page = await world.browser.newPage();
    await page.goto(`${world.replicas[0]?.internalUrl}/console/`);
    await page.getByLabel('Operator token').fill('not-a-token-of-anybody');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    t.match(await page.getByRole('alert').innerText(), 'unauthenticated');
    await page.close();
  });

  await t.test('a session that ends under a page is begun again, and the page stays', async (t) => {
    const { id } = await makeParent(world, 'Kept Open');
    const { page } = await signIn(t, world);
    await open(page, `accounts/${id}`);
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

  await t.test('a page says it when the gateway cannot be reached, and goes on when it can', async (t) => {
    const { page } = await signIn(t, world);
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Accounts' }).click();
    // Each part of the page says so for itself.
    await page.getByText('The gateway cannot be reached.').first().waitFor();
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Accounts' }).waitFor();
    t.pass();
  });

  await t.test('a sign-out ends the session', async (t) => {
    const { page } = await signIn(t, world);
    const [cookie] = await page.context().cookies(`${world.replicas[0]?.internalUrl}/admin/v1/whoami`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Operator token').waitFor();
    const headers = { cookie: `${cookie?.name}=${cookie?.value}` };
    const after = await fetch(`${world.replicas[1]?.internalUrl}/admin/v1/whoami`, { headers });
    t.equal(after.status, 401, 'on another replica');
  });

  await t.test('a change whose response was lost takes effect once when it is repeated', async (t) => {
    const { id } = await makeParent(world, 'Repeating');
    const { page } = await openConsole(t, world, `accounts/${id}`);
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
    const { page } = await openConsole(t, world, `accounts/${id}`);
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
}
