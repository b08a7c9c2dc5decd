// class: ui
/** The reference pages in a real browser. PAGE_PICTURE=<file.png> keeps a picture of the first one. */
import { writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { startApis } from '../../support/apis.ts';
import { chromium, withoutChromium } from '../../support/browser.ts';
import { openTab, type Tab } from '../../support/devtools.ts';
import { openApiFile } from '../../support/openapi-tools.ts';
import { documentedOperations } from '../../support/openapi.ts';

const axe = openApiFile('axe-core/axe.min.js');

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
}

t.test('the reference pages', { skip: withoutChromium }, async (t) => {
  const apis = await startApis(t);
  const tab = await openTab(t, chromium ?? '');
  for (const [api, origin, path] of [
    ['parents', apis.origin, '/v1/sub-accounts/docs'],
    ['operators', apis.internalOrigin, '/admin/v1/docs'],
  ] as const) {
    for (const width of [1280, 400]) {
      tab.send('Log.clear').catch(() => undefined);
      await tab.open(origin + path, width);
      const wide = await tab.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      t.equal(wide, 0, `${path} at ${width} px: nothing is wider than the page`);
      await accessible(tab, `${path} at ${width} px`, t);
    }
    await searched(tab, api, t);
  }
  await picture(tab, `${apis.origin}/v1/sub-accounts/docs`);

  const urls = tab.events
    .filter(({ method }) => method === 'Network.requestWillBeSent')
    .map(({ params }) => (params as { request: { url: string } }).request.url);
  const pages = urls.filter((url) => !url.startsWith('data:'));
  t.ok(pages.length >= 4);
  t.same(
    pages.filter((url) => !/^http:\/\/127\.0\.0\.1:\d+\/(?:v1\/sub-accounts|admin\/v1)\/docs$/.test(url)),
    [],
    'nothing was asked for but the pages themselves',
  );
  const policy = tab.events.filter(({ params }) =>
    JSON.stringify(params ?? '').includes('Content Security Policy'),
  );
  t.same(policy, [], 'and nothing was kept from happening');
  const issues = tab.events.filter(({ method }) => method === 'Audits.issueAdded');
  t.same(
    issues.filter(({ params }) => JSON.stringify(params).includes('ContentSecurityPolicyIssue')),
    [],
  );
});

async function accessible(tab: Tab, where: string, t: Pick<Test, 'same' | 'pass'>): Promise<void> {
  if (axe === undefined)
    return void t.pass(where, {
      skip: `NO axe-core ON THIS MACHINE: not tried on ${where}. scripts/ci-tools.sh brings it`,
    });
  await tab.evaluate(axe);
  const { violations } = (await tab.evaluate('axe.run(document)')) as { violations: readonly Violation[] };
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  t.same(
    serious.map(({ id, help, nodes }) => ({ id, help, first: nodes[0]?.html })),
    [],
    `${where}: axe-core finds nothing serious`,
  );
}

async function searched(tab: Tab, api: string, t: Pick<Test, 'same' | 'equal'>): Promise<void> {
  for (const { id, method, path, api: of } of documentedOperations()) {
    if (of !== api) continue;
    for (const words of [id, `${method} ${path}`]) {
      const found = await tab.evaluate(`(() => {
        const search = document.getElementById('search');
        search.value = ${JSON.stringify(words)};
        search.dispatchEvent(new Event('input'));
        return [...document.querySelectorAll('article:not([hidden])')].map(({ id }) => id);
      })()`);
      t.equal((found as string[]).includes(id), true, `${words} is found`);
    }
  }
  const none = await tab.evaluate(`(() => {
    const search = document.getElementById('search');
    search.value = 'no such operation';
    search.dispatchEvent(new Event('input'));
    return [document.getElementById('found').textContent, document.querySelectorAll('article:not([hidden])').length];
  })()`);
  t.same(none, ['Nothing found', 0]);
}

async function picture(tab: Tab, url: string): Promise<void> {
  const file = process.env['PAGE_PICTURE'];
  if (file === undefined) return;
  await tab.open(url, 1280);
  const { data } = (await tab.send('Page.captureScreenshot', { format: 'png' })) as { data: string };
  writeFileSync(file, Buffer.from(data, 'base64'));
}
