// class: night
/** The pictures of the portal in docs. `WRITE_PICTURES=1 npm test -- test/portal/pictures.test.ts` takes them anew. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { withoutChromium } from '../support/browser.ts';
import { openPortal, startPortalWorld } from './support/world.ts';

const root = new URL('../../', import.meta.url);
const folder = new URL('docs/portal/', root);

t.test(
  'every picture that the page of the docs shows can be taken, and is there',
  { skip: withoutChromium },
  async (t) => {
    const world = await startPortalWorld(t);
    const [{ id }] = world.customers;
    for (const [name, scope] of [
      ['Dashboard', 'shipments:read'],
      ['Warehouse import', 'shipments:write'],
    ])
      await world.parent('POST', `/${id}/api-keys`, { body: { name, scopes: [scope] } });
    const { page } = await openPortal(t, world, { sub_account_id: id, user: 'jane@northwind.example' });
    await page.setViewportSize({ width: 1000, height: 520 });
    await page.getByRole('link', { name: 'Warehouse import' }).waitFor();
    const picture = fileURLToPath(new URL('keys.png', folder));
    if (process.env['WRITE_PICTURES'] !== undefined) {
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: picture });
    }
    const wanted = readFileSync(new URL('docs/portal.md', root), 'utf8').matchAll(/portal\/([a-z-]+\.png)/g);
    t.same(
      [...wanted].map(([, name]) => name),
      ['keys.png'],
    );
    t.ok(existsSync(picture));
  },
);
