// class: ui
/** Every page of the console for everybody: axe-core, light and dark, narrow and wide. CONSOLE_PICTURES keeps pictures. */
import { join } from 'node:path';
import t from 'tap';
import { violations } from '../support/accessibility.ts';
import { chromium, withoutChromium } from '../support/browser.ts';
import { makeParent, open, signIn, startWorld, type Parent, type World } from './support/world.ts';

const skip = chromium === undefined && withoutChromium;
const pictures = process.env['CONSOLE_PICTURES'];

/** Pages by name, each with its address. */
function pagesOf({ id, keyId, subIds }: Parent): Readonly<Record<string, string>> {
  return {
    overview: '',
    accounts: 'accounts',
    account: `accounts/${id}`,
    keys: `accounts/${id}?tab=keys`,
    usage: `accounts/${id}?tab=usage`,
    limits: `accounts/${id}?tab=limits`,
    'account-events': `accounts/${id}?tab=events`,
    'sub-account': `accounts/${id}/sub-accounts/${subIds[0]}`,
    plans: 'plans',
    'accounts-with-plan': 'accounts?plan=gold',
    'find-key': `keys?last4=none`,
    key: `keys/${keyId}`,
    explain: `explain?keyId=${keyId}&method=POST&path=/orders&acting=ext:customer-1`,
    events: 'events',
    live: 'live',
    'no-such-page': 'nothing',
    'no-such-account': 'accounts/00000000-0000-7000-8000-000000000000',
  };
}

t.test('every page', { skip }, async (t) => {
  const world = await startWorld(t);
  const parent = await makeParent(world, 'Ada Logistics Ltd');
  await world.operator('PATCH', `/accounts/${parent.id}`, {
    body: {
      limits: { requests_per_second: 100, requests_per_month: 1000 },
      metadata: { region: 'eu', crm: 'a-long-value-without-blanks-'.repeat(8) },
    },
  });
  await world.operator('PUT', '/plans/gold', { body: { limits: { requests_per_second: 50, burst: 100 } } });
  const gone = await makeParent(world, 'Gone Ltd');
  await world.operator('POST', `/accounts/${gone.id}/suspend`);
  await world.operator('DELETE', `/accounts/${gone.id}`);
  for (let i = 0; i < 20; i += 1) await world.statuses(parent.apiKey);
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [400, 1000, 1600])
      await t.test(`${colorScheme}, ${width} px`, (t) =>
        looked(t, world, { ...pagesOf(parent), erasure: `erasures/${gone.id}` }, { colorScheme, width }),
      );
  const closed = await makeParent(world, 'Closed Ltd');
  await world.operator('POST', `/accounts/${closed.id}/suspend`);
  await t.test('every dialog', (t) => dialogs(t, world, parent, closed));
});

interface Look {
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
}

type Test = Pick<typeof t, 'same' | 'ok' | 'equal'>;

async function looked(
  t: Test,
  world: World,
  pages: Readonly<Record<string, string>>,
  { colorScheme, width }: Look,
): Promise<void> {
  const options = { colorScheme, viewport: { width, height: 900 } };
  const { page, faults } = await signIn(world, undefined, options);
  for (const [name, hash] of Object.entries(pages)) {
    await open(page, hash);
    const alerts = name === 'no-such-account' ? 1 : 0;
    t.equal(await page.getByRole('alert').count(), alerts, `${name}: errors`);
    if (pictures !== undefined)
      await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    t.same(await violations(page), [], `${name}: axe-core`);
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    t.ok(Number(wider) <= 0, `${name}: nothing is wider than the page`);
  }
  t.same(faults, []);
  await page.context().close();
}

async function dialogs(t: Test, world: World, { id, keyId }: Parent, closed: Parent): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await signIn(world, undefined, { colorScheme, viewport: { width: 400, height: 900 } });
    const base = page.url().split('#')[0];
    for (const [hash, button] of [
      ['accounts', 'Create an account'],
      [`accounts/${id}`, 'Mint a key'],
      [`accounts/${id}`, 'Create a sub-account'],
      [`accounts/${id}`, 'Edit'],
      [`accounts/${id}`, 'Metadata'],
      [`accounts/${id}`, 'Suspend'],
      [`accounts/${closed.id}`, 'Delete'],
      ['plans', 'Create a plan'],
      ['plans', 'Edit gold'],
      ['plans', 'Delete gold'],
      [`keys/${keyId}`, 'Rotate'],
      [`keys/${keyId}`, 'Revoke'],
    ] as const) {
      await page.goto(`${base}#/${hash}`);
      const opener = page.getByRole('button', { name: button });
      await opener.click();
      await page.getByRole('dialog').waitFor();
      if (pictures !== undefined)
        await page.screenshot({ path: join(pictures, `dialog-${button}-${colorScheme}.png`) });
      t.same(await violations(page), [], `${button}: axe-core`);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.context().close();
  }
}
