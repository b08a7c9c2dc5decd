/** Links to the portal, and the sessions that they begin. */
import type { Test } from 'tap';
import { mint } from '../support/secrets.ts';
import { openPortal, returnUrl, visit, type PortalWorld } from '../support/world.ts';

export async function links(t: Test, world: PortalWorld): Promise<void> {
  const [northwind, fabrikam] = world.customers;
  await t.test('a link opens once, and its secret leaves the address at once', async (t) => {
    const { url } = await world.link();
    const secret = String(url.split('#')[1]);
    const { page, faults } = await visit(t, world, url);
    await page.getByRole('heading', { name: northwind.name }).waitFor();
    t.equal(page.url(), `${world.url}#/`);
    const kept = await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]');
    t.same(kept, [0, 0, ''], 'the browser keeps nothing');
    t.notOk((await page.content()).includes(secret));
    t.same(faults, []);
    const again = await visit(t, world, url);
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
    const { page } = await visit(t, world, world.url);
    await page.getByRole('heading', heading).waitFor();
    const { page: reloaded } = await openPortal(t, world);
    await reloaded.getByRole('heading', { name: northwind.name }).waitFor();
    await reloaded.reload();
    await reloaded.getByRole('heading', heading).waitFor();
    t.pass();
  });

  await t.test('another link in the same page begins another session', async (t) => {
    const { page } = await openPortal(t, world);
    await page.getByRole('heading', { name: northwind.name }).waitFor();
    const { url } = await world.link({ sub_account_id: fabrikam.id });
    await page.goto(url);
    await page.getByRole('heading', { name: fabrikam.name }).waitFor();
    t.equal(page.url(), `${world.url}#/`);
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
}

export async function endings(t: Test, world: PortalWorld): Promise<void> {
  const ended = { name: 'This session has ended' };
  const back = { name: 'Back to app.example' };

  await t.test('a session that its parent ended is over at the next call, with a way back', async (t) => {
    const { id, url } = await world.link();
    const { page } = await visit(t, world, url);
    await page.getByRole('link', { name: 'Old script' }).waitFor();
    t.equal((await world.parent('DELETE', `/portal-sessions/${id}`)).status, 204);
    await page.getByRole('link', { name: 'Old script' }).click();
    await page.getByRole('heading', ended).waitFor();
    t.equal(await page.getByRole('link', back).getAttribute('href'), returnUrl);
    t.equal(await page.getByText('Old script').count(), 0, 'nothing of the session stays');
  });

  await t.test('a page that nobody touches says within a minute that its session was ended', async (t) => {
    const { page } = await visit(t, world, world.url);
    await page.clock.install({ time: Date.now() });
    const { id, url } = await world.link();
    await page.goto(url);
    await page.getByRole('link', { name: 'Old script' }).waitFor();
    t.equal((await world.parent('DELETE', `/portal-sessions/${id}`)).status, 204);
    await page.clock.fastForward(61_000);
    await page.getByRole('heading', ended).waitFor();
  });

  await t.test('who leaves has left: the token works no more', async (t) => {
    const { page } = await openPortal(t, world);
    const asked = page.waitForRequest(/api-keys/);
    await page.getByRole('link', { name: 'Old script' }).click();
    const authorization = String((await asked).headers()['authorization']);
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'You have left' }).waitFor();
    await page.getByRole('link', back).waitFor();
    const response = await fetch(`${world.url}api/session`, { headers: { authorization } });
    t.equal(response.status, 401);
  });

  await t.test(
    'a session runs out by the server’s clock, and a new secret stays until it is closed',
    async (t) => {
      const { page } = await visit(t, world, world.url);
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
    },
  );
}
