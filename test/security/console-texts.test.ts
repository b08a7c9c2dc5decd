// class: ui
/** Texts that tenants choose, as the console shows them: each tries to run a script or to leave its place. */
import t from 'tap';
import { chromium, withoutChromium } from '../support/browser.ts';
import { open, signIn, startWorld, type World } from '../console/support/world.ts';

const skip = chromium === undefined && withoutChromium;

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

t.test('a text of a tenant', { skip }, async (t) => {
  const world = await startWorld(t);
  const { page, faults } = await signIn(world);
  for (const [index, text] of texts.entries()) {
    const id = await hostileAccount(world, text, index);
    const { body } = await world.operator('GET', `/accounts/${id}/sub-accounts`);
    const [sub] = body['data'] as { id: string }[];
    const keys = await world.operator('GET', `/api-keys?account_id=${id}`);
    const [key] = keys.body['data'] as { id: string }[];
    for (const hash of [
      `accounts?q=${encodeURIComponent(text.slice(0, 100))}`,
      ...['sub-accounts', 'keys', 'limits', 'events'].map((tab) => `accounts/${id}?tab=${tab}`),
      `accounts/${id}/sub-accounts/${sub?.id}`,
      `keys/${key?.id}`,
      `explain?keyId=${key?.id}&path=${encodeURIComponent(`/${text}`)}&acting=${encodeURIComponent(text)}`,
      `events`,
      '',
      // An address that somebody sends to an operator.
      `accounts/${encodeURIComponent(text)}`,
      `keys?last4=${encodeURIComponent(text)}`,
    ]) {
      await open(page, hash);
      t.equal(await page.locator('html[data-hit]').count(), 0, `${text} ran on ${hash}`);
      t.equal(
        await page.locator('main img:not([src="icon.svg"]), main svg, main iframe, main script').count(),
        0,
        `an element of the page on ${hash.replace(id, 'ID')}`,
      );
      t.equal(await page.locator('a[href^="javascript:" i]').count(), 0);
    }
    await open(page, `accounts/${id}`);
    t.match(
      await page.getByRole('heading', { level: 1 }).innerText(),
      text.slice(0, 50),
      'it is shown as it is',
    );
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    t.ok(Number(wider) <= 0, 'and keeps to its place');
  }
  t.same(faults, [], 'the content security policy had nothing to prevent');
});

/** An account, a sub-account and a key that have a text wherever a tenant can set one. */
async function hostileAccount({ operator }: World, text: string, index: number): Promise<string> {
  const metadata = { [`note-${index}`]: text, path: `/${text}` };
  const made = await operator('POST', '/accounts', { body: { name: text, metadata } });
  const id = String(made.body['id']);
  const external_id = `<b>${index}</b>"'&`;
  await operator('POST', `/accounts/${id}/sub-accounts`, { body: { name: text, external_id, metadata } });
  await operator('POST', `/accounts/${id}/api-keys`, { body: { name: text, scopes: [] } });
  await operator('PATCH', `/accounts/${id}`, { body: { external_id: `${external_id}${index}` } });
  return id;
}
