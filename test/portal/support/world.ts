/** Two whole gateways with a portal, a parent with customers, and a browser to look at them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import type { Store } from '../../../src/adapters/postgres/store.ts';
import { makeParents, operatorToken } from '../../support/apis.ts';
import { configFile } from '../../support/config-files.ts';
import { httpClient, type Call, type HttpResponse } from '../../support/http-client.ts';
import { loaded, openBrowser, watched, type WatchedPage } from '../../support/browser.ts';
import { everyPermission } from '../../support/portal.ts';
import { becomes, startProcess, type GatewayProcess } from '../../support/process.ts';
import type { Scope } from '../../support/servers.ts';
import { freshStore } from '../../support/store.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { startUpstream } from '../../support/upstreams.ts';

/** Address that the portal leads back to. */
export const returnUrl = 'https://app.example/settings';

/** Colour of its buttons, as browsers write it. */
export const accent = 'rgb(179, 38, 30)';

/** Scopes of keys that sessions may mint. */
const scopes = ['shipments:read', 'shipments:write'];

type Body = Readonly<Record<string, unknown>>;

export interface PortalWorld {
  readonly replicas: readonly GatewayProcess[];
  /** Address of the portal. */
  readonly url: string;
  /** Origin whose page shows the address of its query in a frame. The portal allows it. */
  readonly framing: string;
  /** Calls the operator API. */
  readonly operator: Call;
  /** Calls the parent's management API, `/v1/sub-accounts`. */
  readonly parent: Call;
  /** Two customers of the parent. The first one has a key with a scope that no session may give. */
  readonly customers: readonly [Customer, Customer];
  /** Makes a link to the portal. Its session may do all to keys of the first customer, unless the body says otherwise. */
  readonly link: (body?: Body) => Promise<{ readonly id: string; readonly url: string }>;
  /** Sends a request through each replica with a key; the statuses. */
  readonly statuses: (apiKey: string) => Promise<number[]>;
  readonly browser: Browser;
  /** The store of the replicas, for work that they do by themselves only later. */
  readonly store: Store;
}

export interface Customer {
  readonly id: string;
  readonly name: string;
}

/** Starts it all; it ends with the test. */
export async function startPortalWorld(t: Scope): Promise<PortalWorld> {
  const upstream = await startUpstream(t);
  const framing = await startFraming(t);
  const { url: database, store } = await freshStore(t);
  const shared = {
    DATABASE_URL: database,
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: operatorToken,
    LOG_LEVEL: 'warn',
    CONFIG: configFile(t, configuration(framing)),
  };
  const ports = [await unusedPort(), await unusedPort()];
  const url = `http://127.0.0.1:${ports[0]}/`;
  const replicas = await Promise.all(
    ports.map((port) => startProcess(t, { ...shared, PORTAL_PORT: String(port), PORTAL_URL: url })),
  );
  for (const { internalUrl } of replicas) await becomes(internalUrl, 200);
  const internal = httpClient(t, replicas[0]?.internalUrl ?? '');
  const operator: Call = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: operatorToken, ...more });
  const calls = replicas.map((replica) => httpClient(t, replica.url));
  const { call: parent } = await makeParents(calls[0] as Call, operator)();
  const customers = [
    await makeCustomer(parent, 'Northwind Traders'),
    await makeCustomer(parent, 'Fabrikam Freight'),
  ] as const;
  const old = { name: 'Old script', scopes: ['everything'] };
  await created(parent('POST', `/${customers[0].id}/api-keys`, { body: old }));
  return {
    ...{ replicas, url, framing, operator, parent, customers, store },
    browser: await openBrowser(t),
    link: async (body = { sub_account_id: customers[0].id }) => {
      const all = { permissions: everyPermission, scopes, user: 'jane', return_url: returnUrl, ...body };
      const made = await created(parent('POST', '/portal-sessions', { body: all }));
      return { id: String(made['id']), url: String(made['url']) };
    },
    statuses: async (apiKey) => {
      const responses = calls.map((call) => call('GET', '/orders', { key: apiKey }));
      return (await Promise.all(responses)).map(({ status }) => status);
    },
  };
}

/** @param framing origin whose pages may show the portal in a frame */
const configuration = (framing: string): string => `
portal:
  name: Acme Shipping
  accent: "#b3261e"
  links: [{ name: Documentation, url: "https://docs.example/" }]
  return_urls: ["https://app.example/"]
  frame_ancestors: ["${framing}"]
# Nothing is shed on a machine that stands still for a second.
limits: { max_event_loop_delay_ms: 0, changes_per_second: 0, reads_per_second: 0 }
`;

/** Starts the page that shows another one in a frame. @returns its origin */
async function startFraming(t: Scope): Promise<string> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    const frame = `<iframe name="portal" src="${searchParams.get('of')}" width="900" height="600"></iframe>`;
    response.setHeader('content-type', 'text/html').end(`<!doctype html>${frame}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function makeCustomer(parent: Call, name: string): Promise<Customer> {
  const limits = { requests_per_second: 50, requests_per_month: 1000 };
  const body = { name, limits, external_id: name.toLowerCase().replace(' ', '-') };
  return { id: String((await created(parent('POST', '', { body })))['id']), name };
}

async function created(response: Promise<HttpResponse>): Promise<Body> {
  const { status, text, body } = await response;
  if (status !== 201) throw new Error(text);
  return body;
}

/** Opens an address in a browser of the test's own, and waits for the page. */
export async function visit(t: Scope, { browser }: PortalWorld, url: string): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 900 } });
  t.teardown(() => context.close());
  const visited = watched(await context.newPage());
  await visited.page.goto(url);
  await visited.page.locator('main h1').waitFor();
  return visited;
}

/** Makes a link to the portal and opens it. @param body see {@link PortalWorld.link} */
export async function openPortal(t: Scope, world: PortalWorld, body?: Body): Promise<WatchedPage> {
  return visit(t, world, (await world.link(body)).url);
}

/** Goes to a place of the session, and waits until it has loaded everything. @param hash its address after `#/` */
export async function goTo(page: Page, hash: string): Promise<void> {
  // The page draws the place when it hears of it, and asks for what it shows behind the next frame.
  await page.evaluate(`new Promise((arrived) => {
    const to = ${JSON.stringify(`#/${hash}`)};
    if (location.hash === to) arrived();
    addEventListener('hashchange', () => requestAnimationFrame(() => setTimeout(arrived)), { once: true });
    location.hash = to;
  })`);
  await loaded(page);
}
