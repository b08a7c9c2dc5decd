/** The runbook for a leaked key, in the console: paste it, open it, revoke it. */
import t from 'tap';
import { chromium, withoutChromium } from '../support/browser.ts';
import { tabTo } from '../support/keyboard.ts';
import { makeParent, signIn, startWorld } from './support/world.ts';

const skip = chromium === undefined && withoutChromium;

t.test('a leaked key', { skip }, async (t) => {
  const world = await startWorld(t);

  await t.test('it is found and revoked by keyboard alone, and never sent', async (t) => {
    const { apiKey } = await makeParent(world, 'Leaky Ltd');
    const { page } = await signIn(world);
    const sent: string[] = [];
    page.on('request', (request) =>
      sent.push(JSON.stringify([request.url(), request.headers(), request.postData()])),
    );
    const { keyboard } = page;
    await tabTo(page, page.getByRole('link', { name: 'Find a key' }));
    await keyboard.press('Enter');
    await page.getByLabel('The key').waitFor();
    await tabTo(page, page.getByLabel('The key'));
    await keyboard.insertText(apiKey);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: "Leaky Ltd's key" }).waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Revoke' }));
    await keyboard.press('Enter');
    await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Revoke' }));
    await keyboard.press('Enter');
    await page.getByText(/Enforced on 3 replicas in \d+ ms/).waitFor();
    t.same(await world.statuses(apiKey), [401, 401, 401]);
    await tabTo(page, page.getByRole('button', { name: 'Close' }));
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    t.same(
      sent.filter((request) => request.includes(apiKey)),
      [],
      'no request has the key',
    );
    t.notOk(page.url().includes(apiKey), 'nor the address');
  });

  await t.test('it is found by its first and last characters', async (t) => {
    const { apiKey } = await makeParent(world, 'Prefix Partners');
    const { page } = await signIn(world);
    await page.getByRole('link', { name: 'Find a key' }).click();
    await page.getByLabel('Its first characters').fill(apiKey.slice(0, 8));
    await page.getByLabel('Its last four').fill(apiKey.slice(-4));
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.getByRole('link', { name: "Prefix Partners's key" }).waitFor();
    t.pass();
  });

  await t.test('a key that nobody has is not found, and the page says what that means', async (t) => {
    const { page } = await signIn(world);
    await page.getByRole('link', { name: 'Find a key' }).click();
    await page.getByLabel('The key').fill('tgw_of_another_gateway');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.getByText('No key matches.').waitFor();
    t.pass();
  });
});
