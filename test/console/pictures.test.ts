// class: night
/**
 * The pictures of the console in README and docs. `WRITE_PICTURES=1 npm test -- test/console/pictures.test.ts` takes
 * them anew.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { withoutChromium } from '../support/browser.ts';
import { open, openConsole } from './support/page.ts';
import { startWorld, type World } from './support/world.ts';

const root = new URL('../../', import.meta.url);
const folder = new URL('docs/console/', root);
const isWriting = process.env['WRITE_PICTURES'] !== undefined;

t.test(
  'every picture that a page of the docs shows can be taken, and is there',
  { skip: withoutChromium },
  async (t) => {
    const world = await startWorld(t, { replicas: 3, accounts: 0 });
    const { accountId, keyId } = await scene(world);
    const { page } = await openConsole(t, world, `accounts/${accountId}`);
    await page.setViewportSize({ width: 1000, height: 720 });
    const taken: string[] = [];
    const take = async (name: string): Promise<void> => {
      taken.push(`${name}.png`);
      mkdirSync(folder, { recursive: true });
      if (isWriting) await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, folder)) });
    };
    await take('account');
    await open(page, `explain?keyId=${keyId}&method=POST&path=/shipments&acting=ext:ada`);
    await take('explain');
    await open(page, `keys/${keyId}`);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page
      .getByRole('dialog')
      .getByText(/last 24 hours: \d/)
      .waitFor();
    await page
      .getByRole('dialog')
      .getByText(/on 3 replicas\./)
      .waitFor();
    await take('revoke');

    const docs = ['README.md', 'docs/console.md'].map((file) => readFileSync(new URL(file, root), 'utf8'));
    const wanted = [...docs.join('').matchAll(/console\/([a-z-]+\.png)/g)].map(([, name]) => String(name));
    t.ok(wanted.length > 0);
    for (const name of wanted) {
      t.ok(taken.includes(name), `${name} can be taken anew`);
      t.ok(existsSync(new URL(name, folder)), `${name} is there`);
    }
  },
);

/** An account with customers, traffic and a quota. */
async function scene({ operator, statuses }: World) {
  const limits = { requests_per_second: 50, requests_per_month: 1_000_000 };
  const account = await operator('POST', '/accounts', {
    body: { name: 'Acme Freight', external_id: 'crm-10482' },
  });
  const accountId = String(account.body['id']);
  await operator('PATCH', `/accounts/${accountId}`, { body: { limits } });
  for (const [name, external_id] of customers)
    await operator('POST', `/accounts/${accountId}/sub-accounts`, { body: { name, external_id } });
  const body = { name: 'production', scopes: ['sub_accounts:read', 'sub_accounts:write'] };
  const key = await operator('POST', `/accounts/${accountId}/api-keys`, { body });
  for (let round = 0; round < 40; round += 1) await statuses(String(key.body['api_key']));
  return { accountId, keyId: String(key.body['id']) };
}

const customers = [
  ['Ada Logistics', 'ada'],
  ['Blue Harbor Shipping', 'blue-harbor'],
  ['Nordlicht Spedition', 'nordlicht'],
  ['Café Central', 'cafe-central'],
] as const;
