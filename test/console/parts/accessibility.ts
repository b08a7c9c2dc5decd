/** Every page and every dialog of the console for everybody. */
import type { Test } from 'tap';
import { inTwoViews, looked } from '../../support/accessibility.ts';
import { open, openConsole } from '../support/page.ts';
import { makeParent, type World } from '../support/world.ts';

/** @param axeIn in which views axe-core looks */
export async function accessibility(t: Test, world: World, axeIn = inTwoViews): Promise<void> {
  const { pages, dialogs } = await scene(world);
  await t.test('every page', async (t) => {
    const { page, faults } = await openConsole(t, world);
    for (const [name, hash] of Object.entries(pages)) {
      await open(page, hash);
      const alerts = name === 'no-such-account' ? 1 : 0;
      t.equal(await page.getByRole('alert').count(), alerts, `${name}: errors`);
      await looked(t, page, name, axeIn);
    }
    t.same(faults, []);
  });
  await t.test('every dialog', async (t) => {
    const { page, faults } = await openConsole(t, world);
    for (const [hash, button] of dialogs) {
      await open(page, hash);
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('dialog').waitFor();
      await looked(t, page, `dialog ${button}`, axeIn);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    t.same(faults, []);
  });
}

interface Scene {
  /** Addresses of pages by name. */
  readonly pages: Readonly<Record<string, string>>;
  /** Dialogs: the address of the page, and the button that opens it. */
  readonly dialogs: readonly (readonly [hash: string, button: string])[];
}

async function scene(world: World): Promise<Scene> {
  const { operator } = world;
  const { id, keyId, subIds, apiKey } = await makeParent(world, 'Ada Logistics Ltd');
  const limits = { requests_per_second: 100, requests_per_month: 1000 };
  const metadata = { region: 'eu', crm: 'a-long-value-without-blanks-'.repeat(8) };
  await operator('PATCH', `/accounts/${id}`, { body: { limits, metadata } });
  await operator('PUT', '/plans/gold', { body: { limits: { requests_per_second: 50, burst: 100 } } });
  const gone = await makeParent(world, 'Gone Ltd');
  await operator('POST', `/accounts/${gone.id}/suspend`);
  await operator('DELETE', `/accounts/${gone.id}`);
  const closed = await makeParent(world, 'Closed Ltd');
  await operator('POST', `/accounts/${closed.id}/suspend`);
  for (let i = 0; i < 20; i += 1) await world.statuses(apiKey);
  return {
    pages: {
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
      erasure: `erasures/${gone.id}`,
    },
    dialogs: [
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
    ],
  };
}
