/** Whole gateways over one database, for tests of the console, and a browser to look at them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { operatorToken } from '../../support/apis.ts';
import { configFile } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient, type Call, type HttpResponse } from '../../support/http-client.ts';
import { openBrowser } from '../../support/browser.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess, tempFolder, type GatewayProcess } from '../../support/process.ts';
import { freshRedis } from '../../support/redis.ts';
import type { Scope } from '../../support/servers.ts';
import { migrated } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';

/** Tokens of operators, by role. */
export const tokens = {
  admin: operatorToken,
  support: 'support-token-for-tests-0123456789',
  viewer: 'viewer-token-for-tests-0123456789',
} as const;

export type Role = keyof typeof tokens;

export interface World {
  readonly replicas: readonly GatewayProcess[];
  /** Number of accounts that were there before the test began, named `Company 0` and so on. */
  readonly accounts: number;
  /** Calls the operator API as an admin. */
  readonly operator: Call;
  /** Sends a request through each replica with a key; the statuses. */
  readonly statuses: (apiKey: string, headers?: Readonly<Record<string, string>>) => Promise<number[]>;
  /** Opens an event stream through each replica with a key. They end with the test. */
  readonly openStreams: (t: Scope, apiKey: string) => Promise<void>;
  readonly browser: Browser;
  /** The browser of each role that has signed in. */
  readonly signedIn: Map<Role, BrowserContext>;
}

/** Starts it all; it ends with the test. @param size number of gateways, and of accounts that are there already */
export async function startWorld(
  t: Scope,
  size: { readonly replicas: number; readonly accounts: number },
): Promise<World> {
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
  const replicas = await Promise.all(Array.from({ length: size.replicas }, () => startProcess(t, env)));
  for (const { internalUrl } of replicas) await becomes(internalUrl, 200);
  const internal = httpClient(t, replicas[0]?.internalUrl ?? '');
  const operator: Call = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: tokens.admin, ...more });
  await importAccounts(operator, size.accounts);
  const calls = replicas.map(({ url }) => httpClient(t, url));
  return {
    replicas,
    accounts: size.accounts,
    operator,
    browser: await openBrowser(t),
    signedIn: new Map(),
    statuses: async (apiKey, headers = {}) => {
      const responses = calls.map((call) => call('GET', '/orders', { key: apiKey, headers }));
      return (await Promise.all(responses)).map(({ status }) => status);
    },
    openStreams: async (scope, apiKey) => {
      const leave = new AbortController();
      // The client ends the stream of a response that nobody refers to.
      const streams: Response[] = [];
      scope.teardown(() => {
        leave.abort();
        streams.length = 0;
      });
      const headers = { authorization: `Bearer ${apiKey}` };
      for (const { url } of replicas)
        streams.push(await fetch(`${url}/stream`, { headers, signal: leave.signal }));
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

async function importAccounts(operator: Call, number: number): Promise<void> {
  for (let first = 0; first < number; first += 1_000) {
    const accounts = Array.from({ length: Math.min(1_000, number - first) }, (_, index) => ({
      external_id: `crm-${first + index}`,
      name: `Company ${first + index}`,
    }));
    // A busy machine may be too slow for it at first; accounts that are there already stay as they are.
    await eventually(
      async () => (await operator('POST', '/accounts/import', { body: { accounts } })).status === 200,
    );
  }
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
