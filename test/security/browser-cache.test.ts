// class: ui
/** A browser keeps responses by their address. A page that asks for several tenants must get the response of each. */
import t from 'tap';
import type { CorsConfig } from '../../src/config.ts';
import { openBrowser, withoutChromium } from '../support/browser.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test(
  'a page that asks for two tenants at one address gets the data of each',
  { skip: withoutChromium },
  async (t) => {
    const upstream = await startUpstream(t, ({ values }, response) => {
      // What a careful service says.
      response.setHeader('cache-control', 'private, max-age=60').end(values('x-service-resolved-tenant')[0]);
    });
    const site = await startUpstream(t, (_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html>');
    });
    const cors: CorsConfig = {
      ...{ origins: [site.url], expose: [], credentials: false, maxAgeMs: 600_000 },
      headers: ['Authorization', 'X-API-Key', 'X-Service-Acting-Tenant'],
    };
    const { port, parent, directory } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, cors } },
      apiKeyHeaders: ['X-API-Key'],
    });
    const other = directory.addParent();
    const of = (holder: typeof parent, name: string) => directory.addSubAccount(holder, name).id;
    const [ada, bob, theirs] = [of(parent, 'ada'), of(parent, 'bob'), of(other, 'ada')];
    const as = (name: string) => ({ 'x-service-acting-tenant': `ext:${name}` });
    const own = { authorization: `Bearer ${parent.key}` };
    const cases = [
      ['ada', { ...as('ada'), ...own }, ada],
      ['ada again', { ...as('ada'), ...own }, ada],
      ['bob', { ...as('bob'), ...own }, bob],
      ["another customer's ada", { ...as('ada'), authorization: `Bearer ${other.key}` }, theirs],
      ['the same by another header', { ...as('ada'), 'x-api-key': other.key }, theirs],
      ['ada, by the other header', { ...as('ada'), 'x-api-key': parent.key }, ada],
      ['nobody', as('ada'), 401],
    ] as const;
    const page = await (await openBrowser(t)).newPage();
    await page.goto(site.url);
    for (const [name, headers, expected] of cases) {
      const given = JSON.stringify(headers);
      const seen = await page.evaluate(
        `fetch('http://127.0.0.1:${port}/orders', { headers: ${given} }).then((r) => r.ok ? r.text() : r.status)`,
      );
      t.equal(seen, expected, name);
    }
    t.equal(upstream.heads, cases.length - 2, 'the browser did keep the first response, for its own request');
  },
);
