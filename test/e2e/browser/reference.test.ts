// class: ui
/** The reference pages in a real browser. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { inTwoViews, looked } from '../../support/accessibility.ts';
import { startApis } from '../../support/apis.ts';
import { documentedOperations } from '../../support/openapi.ts';
import { openBrowser, watched, withoutChromium } from '../../support/browser.ts';

t.test('the reference pages', { skip: withoutChromium }, async (t) => {
  const apis = await startApis(t);
  const browser = await openBrowser(t);
  for (const [api, url] of [
    ['parents', `${apis.origin}/v1/sub-accounts/docs`],
    ['operators', `${apis.internalOrigin}/admin/v1/docs`],
  ] as const)
    await t.test(api, async (t) => {
      const { page, faults } = watched(await browser.newPage());
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(url);
      await looked(t, page, api, inTwoViews);
      const operations = documentedOperations().filter((operation) => operation.api === api);
      t.ok(operations.length > 0);
      for (const { id, method, path } of operations)
        for (const words of [id, `${method} ${path}`])
          if (!(await found(page, words)).includes(id)) t.fail(`${words} is not found`);
      t.same(await found(page, 'no such operation'), []);
      t.equal(await page.locator('#found').textContent(), 'Nothing found');
      t.same(
        asked.filter((address) => !address.startsWith('data:')),
        [url],
        'nothing was asked for but the page itself',
      );
      t.same(faults, [], 'and nothing was kept from happening');
    });
});

/** The operations that a page shows for what is typed into its search. */
function found(page: Page, words: string): Promise<string[]> {
  return page.evaluate(`(() => {
    const search = document.getElementById('search');
    search.value = ${JSON.stringify(words)};
    search.dispatchEvent(new Event('input'));
    return [...document.querySelectorAll('article:not([hidden])')].map(({ id }) => id);
  })()`);
}
