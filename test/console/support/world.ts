/** Three whole gateways over one database with 10,000 accounts, and a browser to look at them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium as playwright, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { operatorToken } from '../../support/apis.ts';
import { chromium } from '../../support/browser.ts';
import { configFile } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient, type Call, type HttpResponse } from '../../support/http-client.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess, tempFolder, type GatewayProcess } from '../../support/process.ts';
import { freshRedis } from '../../support/redis.ts';
import type { Scope } from '../../support/servers.ts';
import { migrated } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';

/** Number of accounts that are there before a test begins. */
const manyAccounts = 10_000;

/** Tokens of operators, by role. */
export const tokens = {
  admin: operatorToken,
  support: 'support-token-for-tests-0123456789',
  viewer: 'viewer-token-for-tests-0123456789',
} as const;

export interface World {
  readonly replicas: readonly GatewayProcess[];
  /** Calls the operator API as an admin. */
  readonly operator: Call;
  /** Sends a request through each replica with a key; the statuses. */
  readonly statuses: (apiKey: string, headers?: Readonly<Record<string, string>>) => Promise<number[]>;
  /** Opens an event stream through each replica with a key. They end with the test. */
  readonly openStreams: (t: Scope, apiKey: string) => Promise<void>;
  readonly browser: Browser;
}

/** Starts it all; it ends with the test. */
export async function startWorld(t: Scope): Promise<World> {
  // A stream says one word, and then nothing.
  const upstream = await startUpstream(t, ({ target }, response) => {
    if (target === '/stream')
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    else response.end('{}');
  });
  const env = {
    DATABASE_URL: await freshDatabase(t, migrated),
    REDIS_URL: await freshRedis(t),
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: tokens.admin,
    LOG_LEVEL: 'warn',
    CONFIG: configFile(t, configuration(tempFolder(t))),
  };
  const replicas = await Promise.all([1, 2, 3].map(() => startProcess(t, env)));
  for (const { internalUrl } of replicas) await becomes(internalUrl, 200);
  const internal = httpClient(t, replicas[0]?.internalUrl ?? '');
  const operator: Call = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: tokens.admin, ...more });
  await importAccounts(operator);
  const calls = replicas.map(({ url }) => httpClient(t, url));
  const browser = await openBrowser(t);
  return {
    replicas,
    operator,
    browser,
    statuses: async (apiKey, headers = {}) => {
      const responses = calls.map((call) => call('GET', '/orders', { key: apiKey, headers }));
      return (await Promise.all(responses)).map(({ status }) => status);
    },
    openStreams: async (scope, apiKey) => {
      const leave = new AbortController();
      scope.teardown(() => leave.abort());
      const headers = { authorization: `Bearer ${apiKey}` };
      for (const { url } of replicas) await fetch(`${url}/stream`, { headers, signal: leave.signal });
    },
  };
}

/** @param folder for files with tokens */
function configuration(folder: string): string {
  const operators = (['support', 'viewer'] as const).map((role) => {
    const file = join(folder, role);
    writeFileSync(file, tokens[role]);
    return `    ${role}: { token_file: ${file}, role: ${role} }`;
  });
  // Nothing is shed on a machine that stands still for a second.
  const limits = 'limits:\n  max_event_loop_delay_ms: 0\n  changes_per_second: 0\n  reads_per_second: 0';
  return ['internal:', '  admin_tokens:', ...operators, limits].join('\n');
}

async function importAccounts(operator: Call): Promise<void> {
  for (let first = 0; first < manyAccounts; first += 1_000) {
    const accounts = Array.from({ length: 1_000 }, (_, index) => ({
      external_id: `crm-${first + index}`,
      name: `Company ${first + index}`,
    }));
    // A busy machine may be too slow for it at first; accounts that are there already stay as they are.
    await eventually(
      async () => (await operator('POST', '/accounts/import', { body: { accounts } })).status === 200,
    );
  }
}

/** Starts Chromium; it ends with the test. */
export async function openBrowser(t: Scope): Promise<Browser> {
  const browser = await playwright.launch({
    executablePath: chromium ?? '',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
  t.teardown(() => browser.close());
  return browser;
}

/** A page of the console whose operator has signed in, with everything that went wrong in it. */
export interface SignedIn {
  readonly page: Page;
  /** Exceptions of scripts, and violations of the content security policy. */
  readonly faults: readonly string[];
}

/** Opens the console in a browser of its own, and signs in by its form. */
export async function signIn(
  { browser, replicas: [first] }: World,
  token: string = tokens.admin,
  options: BrowserContextOptions = {},
): Promise<SignedIn> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 900 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) faults.push(message.text());
  });
  await page.goto(`${first?.internalUrl}/console/`);
  await page.getByLabel('Operator token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Console' }).waitFor();
  return { page, faults };
}

/** Opens a page of the console anew, and waits until it has loaded everything. @param hash its address after `#/` */
export async function open(page: Page, hash: string): Promise<void> {
  await page.goto(`${page.url().split('#')[0]}#/${hash}`);
  // A change of the hash alone would leave the former page there for a moment.
  await page.reload();
  await page.locator('main h1').waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}

/** A parent account with two sub-accounts and a key, made by the API. */
export interface Parent {
  readonly id: string;
  readonly keyId: string;
  readonly apiKey: string;
  readonly subIds: readonly string[];
}

export async function makeParent({ operator }: Pick<World, 'operator'>, name: string): Promise<Parent> {
  const id = idOf(await operator('POST', '/accounts', { body: { name } }));
  const subIds = [];
  for (const number of [1, 2]) {
    const body = { name: `${name}, customer ${number}`, external_id: `customer-${number}` };
    subIds.push(idOf(await operator('POST', `/accounts/${id}/sub-accounts`, { body })));
  }
  const body = { name: `${name}'s key`, scopes: ['sub_accounts:read'] };
  const key = await operator('POST', `/accounts/${id}/api-keys`, { body });
  return { id, subIds, keyId: idOf(key), apiKey: String(key.body['api_key']) };
}

function idOf({ status, text, body }: HttpResponse): string {
  if (status !== 201) throw new Error(text);
  return String(body['id']);
}
