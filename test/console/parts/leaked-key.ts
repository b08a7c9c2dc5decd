// class: ui
/** The runbook for a leaked key, in the console: paste it, open it, revoke it. */
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { tabTo } from '../../support/keyboard.ts';
import { open, openConsole } from '../support/page.ts';
import { makeParent, type World } from '../support/world.ts';

export async function leakedKey(t: Test, world: World): Promise<void> {
  await t.test('it is found and revoked by keyboard alone, and never sent', async (t) => {
    const { apiKey } = await makeParent(world, 'Leaky Ltd');
    const { page } = await openConsole(t, world);
    const sent = sentBy(page);
    const { keyboard } = page;
    await tabTo(page, page.getByRole('link', { name: 'Find a key' }));
    await keyboard.press('Enter');
    await page.getByLabel('The key').and(page.locator(':focus')).waitFor();
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
    const { page } = await openConsole(t, world, 'keys');
    await page.getByLabel('Its first characters').fill(apiKey.slice(0, 8));
    await page.getByLabel('Its last four').fill(apiKey.slice(-4));
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.getByRole('link', { name: "Prefix Partners's key" }).waitFor();
    await page.goBack();
    await page.getByLabel('Its first characters').fill('');
    await page.getByLabel('Its last four').fill(` ${apiKey.slice(-9)} `);
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.waitForURL((url) => url.hash === `#/keys?last4=${apiKey.slice(-4)}`);
    await page.getByRole('link', { name: "Prefix Partners's key" }).waitFor();
    t.pass();
  });

  await t.test('it is found in whatever people copy it with, and never sent', async (t) => {
    const { apiKey, keyId } = await makeParent(world, 'Copied Company');
    const { page } = await openConsole(t, world);
    const sent = sentBy(page);
    const heading = page.getByRole('heading', { name: "Copied Company's key" });
    for (const [label, text] of [
      ['The key', `Authorization: Bearer ${apiKey}`],
      ['The key', `"authorization": "Bearer ${apiKey}",`],
      ['The key', `'${apiKey}'`],
      ['The key', keyId],
      ['Its first characters', apiKey],
    ] as const) {
      await open(page, 'keys');
      await page.getByLabel(label).fill(text);
      await page.keyboard.press('Enter');
      await heading.waitFor();
    }
    for (const [label, text] of [
      ['The key', `${apiKey.slice(0, 8)}…${apiKey.slice(-4)}`],
      ['The key', `${apiKey.slice(0, 20)}...${apiKey.slice(-9)}`],
      ['Its first characters', apiKey.slice(0, 12)],
      ['Its first characters', apiKey.slice(0, -1)],
    ] as const) {
      await open(page, 'keys');
      await page.getByLabel(label).fill(text);
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: "Copied Company's key" }).waitFor();
    }
    await open(page, `keys?prefix=${apiKey}`);
    await page.getByRole('link', { name: "Copied Company's key" }).waitFor();
    // Longer than what a list shows, so that no other text has it by chance.
    const more = [apiKey.slice(0, 9), apiKey.slice(-5)];
    t.same(
      sent.filter((request) => more.some((part) => request.includes(part))),
      [],
      'no request has more of the key than lists show',
    );
  });

  await t.test('a client secret and an empty search are no keys, and the page says so', async (t) => {
    const { page } = await openConsole(t, world, 'keys');
    const sent = sentBy(page);
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.getByRole('alert').getByText('Paste a key, or type').waitFor();
    const secret = `tgs_${'7s'.repeat(19)}x`;
    await page.getByLabel('The key').fill(secret);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('This is a client secret').waitFor();
    t.same(
      sent.filter((request) => request.includes(secret)),
      [],
    );
  });

  await t.test('a key that nobody has is not found, and the page says what that means', async (t) => {
    const { page } = await openConsole(t, world, 'keys');
    await page.getByLabel('The key').fill('tgw_of_another_gateway');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.getByText('No key matches.').waitFor();
    t.pass();
  });
}

/** Collects everything that a page sends from now on. */
function sentBy(page: Page): readonly string[] {
  const sent: string[] = [];
  page.on('request', (request) =>
    sent.push(JSON.stringify([request.url(), request.headers(), request.postData()])),
  );
  return sent;
}
