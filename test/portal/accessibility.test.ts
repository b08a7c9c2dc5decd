// class: ui
/** Every page of the portal for everybody: axe-core, light and dark, narrow and wide. PORTAL_PICTURES keeps pictures. */
import { join } from 'node:path';
import t from 'tap';
import { violations } from '../support/accessibility.ts';
import { chromium, withoutChromium } from '../support/browser.ts';
import { goTo, startPortalWorld, visit, type PortalWorld } from './support/world.ts';

const skip = chromium === undefined && withoutChromium;
const pictures = process.env['PORTAL_PICTURES'];

/** Pages by name, each with its address. */
function pagesOf({ customers: [{ id }] }: PortalWorld, keyId: string): Readonly<Record<string, string>> {
  return {
    'sub-accounts': '',
    'no-match': 'sub-accounts?q=nobody',
    'sub-account': `sub-accounts/${id}`,
    usage: `sub-accounts/${id}?tab=usage`,
    limits: `sub-accounts/${id}?tab=limits`,
    events: `sub-accounts/${id}?tab=events`,
    key: `sub-accounts/${id}/keys/${keyId}`,
    'all-usage': 'usage',
    'all-events': 'events',
    'no-such-page': 'nothing',
    'no-such-sub-account': 'sub-accounts/00000000-0000-7000-8000-000000000000',
  };
}

t.test('every page', { skip }, async (t) => {
  const world = await startPortalWorld(t);
  const { id } = world.customers[0];
  const { body } = await world.parent('POST', `/${id}/api-keys`, {
    body: { name: 'Warehouse import', scopes: ['shipments:read'] },
  });
  for (let i = 0; i < 5; i += 1) await world.statuses(String(body['api_key']));
  const pages = pagesOf(world, String(body['id']));
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [400, 1000, 1600])
      await t.test(`${colorScheme}, ${width} px`, (t) => looked(t, world, pages, { colorScheme, width }));
  for (const colorScheme of ['light', 'dark'] as const)
    await t.test(`every dialog, ${colorScheme}`, (t) => dialogs(t, world, pages, colorScheme));
});

type Test = Pick<typeof t, 'same' | 'ok' | 'equal'>;

interface Look {
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
}

async function looked(
  t: Test,
  world: PortalWorld,
  pages: Readonly<Record<string, string>>,
  { colorScheme, width }: Look,
): Promise<void> {
  const options = { colorScheme, viewport: { width, height: 900 } };
  const { url } = await world.link({});
  const { page, faults } = await visit(world, url, options);
  const look = async (name: string): Promise<void> => {
    if (pictures !== undefined)
      await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    t.same(await violations(page), [], `${name}: axe-core`);
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    t.ok(Number(wider) <= 0, `${name}: nothing is wider than the page`);
  };
  for (const [name, hash] of Object.entries(pages)) {
    await goTo(page, hash);
    const alerts = name === 'no-such-sub-account' ? 1 : 0;
    t.equal(await page.getByRole('alert').count(), alerts, `${name}: errors`);
    await look(name);
  }
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'You have left' }).waitFor();
  await look('left');
  await page.goto(`${world.url}#${'x'.repeat(43)}`);
  await page.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
  await look('refused');
  t.same(faults, []);
  await page.context().close();
}

async function dialogs(
  t: Test,
  world: PortalWorld,
  pages: Readonly<Record<string, string>>,
  colorScheme: Look['colorScheme'],
): Promise<void> {
  const { url } = await world.link({});
  const { page } = await visit(world, url, { colorScheme, viewport: { width: 400, height: 900 } });
  for (const [place, button] of [
    ['sub-account', 'Mint a key'],
    ['key', 'Rotate'],
    ['key', 'Revoke'],
  ] as const) {
    await goTo(page, pages[place] ?? '');
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('dialog').waitFor();
    if (pictures !== undefined)
      await page.screenshot({ path: join(pictures, `dialog-${button}-${colorScheme}.png`) });
    t.same(await violations(page), [], `${button}: axe-core`);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await page.context().close();
}
