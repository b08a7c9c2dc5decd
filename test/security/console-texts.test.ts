// class: ui
/** Texts that tenants choose, as the console shows them: each tries to run a script or to leave its place. */
import t from 'tap';
import { open, openConsole } from '../console/support/page.ts';
import { startWorld, type World } from '../console/support/world.ts';
import { withoutChromium } from '../support/browser.ts';

/** Marks the page if it runs. */
const run = "document.documentElement.dataset.hit='1'";
const texts = [
  `<img src=x onerror="${run}">`,
  `<script>${run}</script>`,
  `"><svg onload="${run}">`,
  `'-(${run})-'`,
  `javascript:${run}`,
  '{{constructor.constructor("alert(1)")()}}',
  '</textarea></title><iframe srcdoc="<script>parent.x=1</script>">',
  'a'.repeat(200),
];

t.test('a text of a tenant', { skip: withoutChromium }, async (t) => {
  const world = await startWorld(t, { replicas: 1, accounts: 0 });
  const accounts = [];
  for (const [index, text] of texts.entries()) accounts.push(await hostileAccount(world, text, index));
  const { page, faults } = await openConsole(t, world);
  const opened = async (hash: string, texts: string): Promise<void> => {
    await open(page, hash);
    t.equal(await page.locator('html[data-hit]').count(), 0, `${texts} ran on ${hash}`);
    t.equal(
      await page.locator('main img:not([src="icon.svg"]), main svg, main iframe, main script').count(),
      0,
      `an element of the page on ${hash.replace(/[0-9a-f-]{36}/, 'ID')}`,
    );
    t.equal(await page.locator('a[href^="javascript:" i]').count(), 0);
  };
  // These show the texts of all accounts.
  for (const hash of ['', 'accounts', 'events']) await opened(hash, 'a text');
  for (const { text, id, subId, keyId } of accounts) {
    for (const hash of [
      ...['sub-accounts', 'keys', 'limits', 'events'].map((tab) => `accounts/${id}?tab=${tab}`),
      `accounts/${id}/sub-accounts/${subId}`,
      `keys/${keyId}`,
      `explain?keyId=${keyId}&path=${encodeURIComponent(`/${text}`)}&acting=${encodeURIComponent(text)}`,
      // Addresses that somebody sends to an operator.
      `accounts?q=${encodeURIComponent(text.slice(0, 100))}`,
      `accounts/${encodeURIComponent(text)}`,
      `keys?last4=${encodeURIComponent(text)}`,
    ])
      await opened(hash, text);
    await open(page, `accounts/${id}`);
    const title = await page.getByRole('heading', { level: 1 }).innerText();
    t.match(title, text.slice(0, 50), 'it is shown as it is');
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    t.ok(Number(wider) <= 0, 'and keeps to its place');
  }
  t.same(faults, [], 'the content security policy had nothing to prevent');
});

/** An account, a sub-account and a key that have a text wherever a tenant can set one. */
async function hostileAccount({ operator }: World, text: string, index: number) {
  const metadata = { [`note-${index}`]: text, path: `/${text}` };
  const made = await operator('POST', '/accounts', { body: { name: text, metadata } });
  const id = String(made.body['id']);
  const external_id = `<b>${index}</b>"'&`;
  const body = { name: text, external_id, metadata };
  const sub = await operator('POST', `/accounts/${id}/sub-accounts`, { body });
  const key = await operator('POST', `/accounts/${id}/api-keys`, { body: { name: text, scopes: [] } });
  await operator('PATCH', `/accounts/${id}`, { body: { external_id: `${external_id}${index}` } });
  return { text, id, subId: String(sub.body['id']), keyId: String(key.body['id']) };
}
