// class: ui
/** A customer at work in the portal, in a real browser, by keyboard where people use one. */
import type { Page } from 'playwright-core';
import t from 'tap';
import type { AccountId } from '../../src/domain/ids.ts';
import { chromium, withoutChromium } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { tabTo } from '../support/keyboard.ts';
import { accent, goTo, returnUrl, startPortalWorld, visit, type PortalWorld } from './support/world.ts';

const skip = chromium === undefined && withoutChromium;

t.test('the page of the portal', { skip }, async (t) => {
  const world = await startPortalWorld(t);
  const [northwind, fabrikam] = world.customers;
  const open = async (body?: Readonly<Record<string, unknown>>) => visit(world, (await world.link(body)).url);
  const bound = (permissions: readonly string[]) => open({ sub_account_id: northwind.id, permissions });

  await t.test('a link opens once, and its secret leaves the address at once', async (t) => {
    const { url } = await world.link();
    const secret = String(url.split('#')[1]);
    const { page, faults } = await visit(world, url);
    await page.getByRole('heading', { name: northwind.name }).waitFor();
    t.equal(page.url(), `${world.url}#/`);
    const kept = await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]');
    t.same(kept, [0, 0, ''], 'the browser keeps nothing');
    t.notOk((await page.content()).includes(secret));
    t.same(faults, []);
    const again = await visit(world, url);
    await again.page.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
    t.equal(again.page.url(), `${world.url}#/`, 'a spent secret leaves it, too');
    for (const broken of ['cut-off', 'x'.repeat(200), 'x'.repeat(5000)]) {
      const answered = again.page.waitForResponse(/redeem/);
      await again.page.goto(`${world.url}#${broken}`);
      await answered;
      await again.page.getByText('Opening…').waitFor({ state: 'detached' });
      t.equal(await again.page.locator('h1').innerText(), 'This link does not work any more');
    }
  });

  await t.test('a page without a link, or one that is reloaded, says where to begin', async (t) => {
    const heading = { name: 'Open the portal from where you came' };
    const { page } = await visit(world, world.url);
    await page.getByRole('heading', heading).waitFor();
    const { page: reloaded } = await open();
    await reloaded.getByRole('heading', { name: northwind.name }).waitFor();
    await reloaded.reload();
    await reloaded.getByRole('heading', heading).waitFor();
    t.pass();
  });

  await t.test('another link in the same page begins another session', async (t) => {
    const { page } = await open();
    await page.getByRole('heading', { name: northwind.name }).waitFor();
    const { url } = await world.link({ sub_account_id: fabrikam.id });
    await page.goto(url);
    await page.getByRole('heading', { name: fabrikam.name }).waitFor();
    t.equal(page.url(), `${world.url}#/`);
  });

  await t.test('a key is minted, rotated and revoked by keyboard alone', async (t) => {
    const { page, faults } = await open();
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
    const { page } = await open();
    await mint(page, 'Kept');
    for (const key of ['Enter', 'Escape', 'Escape', 'Enter', 'Escape', 'Escape']) {
      await page.keyboard.press(key);
      t.ok(await page.getByRole('dialog').isVisible(), key);
    }
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  await t.test('a mint whose response is lost makes one key, and says that nobody has it', async (t) => {
    const { page } = await open();
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
    const { page } = await open();
    await page.getByRole('link', { name: 'Old script' }).click();
    const rotate = page.getByRole('button', { name: 'Rotate' });
    await rotate.waitFor();
    t.ok(await rotate.isDisabled());
    await page.getByText(/it has the scope everything/).waitFor();
    t.notOk(await page.getByRole('button', { name: 'Revoke' }).isDisabled());
  });

  await t.test('the page offers what the session may do, and nothing else', async (t) => {
    const tabs = async (page: Page): Promise<string[]> =>
      page.getByRole('navigation', { name: 'Sub-account' }).getByRole('link').allInnerTexts();
    const usage = (await bound(['usage:read'])).page;
    await usage.getByRole('heading', { name: northwind.name }).waitFor();
    t.same(await tabs(usage), ['Usage', 'Limits']);
    const reader = (await bound(['keys:read', 'events:read'])).page;
    await reader.getByRole('link', { name: 'Old script' }).click();
    await reader.getByRole('heading', { name: 'Old script' }).waitFor();
    for (const name of ['Rotate', 'Revoke', 'Mint a key'])
      t.equal(await reader.getByRole('button', { name }).count(), 0, name);
    await goTo(reader, '');
    t.same(await tabs(reader), ['Keys', 'Events']);
    const writer = (await bound(['keys:write'])).page;
    await writer.getByText('Your session may mint keys, but not list them.').waitFor();
    await mint(writer, 'Unlisted');
  });

  await t.test('sub-accounts are found by name and id, and opened by id without a list', async (t) => {
    const { page } = await open({});
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
    const { page: unlisted } = await open({ permissions: ['keys:read'] });
    await unlisted.getByLabel('Id of the sub-account').fill(northwind.id);
    await unlisted.keyboard.press('Enter');
    await unlisted.getByRole('link', { name: 'Old script' }).waitFor();
    t.pass();
  });

  await t.test('each part of a page has an address, and the back button goes through them', async (t) => {
    const { page } = await open();
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
  await t.test('only pages that may show the portal in a frame can', async (t) => {
    const page = await world.browser.newPage();
    const show = async (origin: string): Promise<void> => {
      const { url } = await world.link();
      await page.goto(`${origin}/?of=${encodeURIComponent(url)}`);
    };
    const frame = page.frameLocator('iframe');
    await show(world.framing);
    await frame.getByRole('heading', { name: northwind.name }).waitFor();
    const { url } = await world.link({ sub_account_id: fabrikam.id });
    await page.evaluate(`document.querySelector('iframe').src = ${JSON.stringify(url)}`);
    await frame.getByRole('heading', { name: fabrikam.name }).waitFor();
    t.equal(page.frame('portal')?.url(), `${world.url}#/`, 'the secret has left the address of the frame');
    const refused = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
    await show(world.framing.replace('127.0.0.1', 'localhost'));
    await refused;
    t.equal(await frame.getByRole('heading', { name: northwind.name }).count(), 0);
    await page.close();
  });

  await t.test('texts of customers are shown as they are', async (t) => {
    const name = `<img src=x onerror="document.documentElement.dataset.hit='1'">`;
    const made = await world.parent('POST', '', { body: { name } });
    const id = String(made.body['id']);
    const { page, faults } = await open({ sub_account_id: id, user: name });
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
    const { page } = await open({});
    await goTo(page, 'events');
    const events = page.getByRole('region', { name: 'Events' });
    t.equal(await events.getByRole('link', { name: String(key.body['id']) }).count(), 1);
    t.match(await events.getByRole('row', { name: 'Sub-account deleted' }).innerText(), id);
    t.equal(await events.getByRole('link', { name: /^(null|Leaver|Short-lived)$/ }).count(), 0);
  });

  await t.test('the end of a session', (t) => endings(t, world));
  await t.test('an error says what to do', (t) => errors(t, world));
  await t.test('the page has the brand of the provider', async (t) => {
    const { page } = await open();
    await page.getByRole('button', { name: 'Mint a key' }).waitFor();
    t.equal(await page.title(), `${northwind.name} · Acme Shipping`);
    t.equal(
      await page.evaluate(`getComputedStyle(document.querySelector('.primary')).backgroundColor`),
      accent,
    );
    const link = page.getByRole('link', { name: 'Documentation' });
    t.equal(await link.getAttribute('href'), 'https://docs.example/');
  });
});

type Test = Pick<typeof t, 'test'>;

async function endings({ test }: Test, world: PortalWorld): Promise<void> {
  const ended = { name: 'This session has ended' };
  const back = { name: 'Back to app.example' };

  await test('a session that its parent ended is over at the next call, with a way back', async (t) => {
    const { id, url } = await world.link();
    const { page } = await visit(world, url);
    await page.getByRole('link', { name: 'Old script' }).waitFor();
    t.equal((await world.parent('DELETE', `/portal-sessions/${id}`)).status, 204);
    await page.getByRole('link', { name: 'Old script' }).click();
    await page.getByRole('heading', ended).waitFor();
    t.equal(await page.getByRole('link', back).getAttribute('href'), returnUrl);
    t.equal(await page.getByText('Old script').count(), 0, 'nothing of the session stays');
  });

  await test('a page that nobody touches says within a minute that its session was ended', async (t) => {
    const { page } = await visit(world, world.url);
    await page.clock.install({ time: Date.now() });
    const { id, url } = await world.link();
    await page.goto(url);
    await page.getByRole('link', { name: 'Old script' }).waitFor();
    t.equal((await world.parent('DELETE', `/portal-sessions/${id}`)).status, 204);
    await page.clock.fastForward(61_000);
    await page.getByRole('heading', ended).waitFor();
  });

  await test('who leaves has left: the token works no more', async (t) => {
    const { page } = await visit(world, (await world.link()).url);
    const asked = page.waitForRequest(/api-keys/);
    await page.getByRole('link', { name: 'Old script' }).click();
    const authorization = String((await asked).headers()['authorization']);
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'You have left' }).waitFor();
    await page.getByRole('link', back).waitFor();
    const response = await fetch(`${world.url}api/session`, { headers: { authorization } });
    t.equal(response.status, 401);
  });

  await test('a session runs out by the server’s clock, and a new secret stays until it is closed', async (t) => {
    const { page } = await visit(world, world.url);
    // A clock that is two hours fast.
    await page.clock.install({ time: Date.now() + 2 * 3_600_000 });
    await page.goto((await world.link()).url);
    await page.getByText(/^(59|60) minutes left$/).waitFor();
    await mint(page, 'At the end');
    await page.clock.fastForward(59 * 60_000);
    await page.getByText('less than a minute left').waitFor();
    await page.clock.fastForward(61_000);
    t.ok(await page.getByText('It is never shown again').isVisible());
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('heading', ended).waitFor();
  });
}

async function errors({ test }: Test, world: PortalWorld): Promise<void> {
  await test('a portal that cannot be reached is tried again', async (t) => {
    const { page } = await visit(world, (await world.link()).url);
    await page.route(/\/limits/, (route) => route.abort());
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.getByText('The portal cannot be reached.').waitFor();
    await page.unroute(/\/limits/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('1,000 requests a month').waitFor();
    t.pass();
  });

  await test('a rejected change says why, and the form stays as it is', async (t) => {
    const { page } = await visit(world, (await world.link()).url);
    await page.getByRole('button', { name: 'Mint a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Late');
    await dialog.getByLabel('Expires').fill('2020-01-01T00:00');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').getByText('must lie in the future').first().waitFor();
    t.equal(await dialog.getByLabel('Name').inputValue(), 'Late');
  });
}

/** Mints a key without scopes, and waits for its secret. */
async function mint(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Mint a key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
  await secretOf(page);
}

/** The secret that a dialog shows. */
async function secretOf(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog');
  await dialog.getByText('It is never shown again').waitFor();
  return dialog.locator('.secrets code').first().innerText();
}
