/** A gateway process over a real store, with the accounts and keys that the inputs speak of. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/process.ts';
import type { Scope } from '../../support/servers.ts';
import { unusedPort } from '../../servers/unused-port.mjs';

/** A caller: the key and what the gateway is to say about it. */
export interface Holder {
  readonly key: string;
  readonly keyId: string;
  readonly accountId: string;
  /** Of the account. */
  readonly externalId: string | null;
  readonly scopes: readonly string[];
}

/** Parents and what is under the first one. No key here may manage, so nothing sent changes any of it. */
export interface World {
  readonly port: number;
  readonly internalUrl: string;
  /** A parent with an `external_id`, the active sub-account `a` and the deactivated one `b`. */
  readonly parent: Holder;
  /** A key of sub-account `a`. */
  readonly sub: Holder;
  /** A parent without sub-accounts and without an `external_id`. */
  readonly solo: Holder;
  readonly subAccounts: Readonly<Record<'a' | 'b' | 'foreign', string>>;
  /** What it wrote to its log and to standard error so far; of a long text the end. */
  readonly output: () => string;
  readonly running: () => boolean;
  readonly child: ChildProcess;
}

export interface WorldOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** YAML: routes, limits, timeouts. */
  readonly config: string;
  /** Program of the gateway; a `.ts` file is run as it is. */
  readonly gateway: string;
  /** Module that is loaded before the gateway; it may exchange messages with this process. */
  readonly preload?: string;
}

export const builtGateway = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const register = fileURLToPath(new URL('../../../scripts/typescript/register.mjs', import.meta.url));
const adminToken = 'operator-token-of-the-fuzzer';

export async function startWorld(t: Scope, options: WorldOptions): Promise<World> {
  const [port, internalPort] = [await unusedPort(), await unusedPort()];
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  const config = join(tempFolder(t), 'gateway.yaml');
  writeFileSync(config, options.config);
  const loader = options.gateway.endsWith('.ts') ? ['--import', register] : [];
  const preload = options.preload === undefined ? [] : ['--import', options.preload];
  const child = spawn(process.execPath, [...loader, ...preload, options.gateway], {
    env: {
      PATH: process.env['PATH'],
      CONFIG: config,
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      ADMIN_TOKEN: adminToken,
      DATABASE_URL: options.databaseUrl,
      REDIS_URL: options.redisUrl,
      COHERENCE_LEASE_MS: '10000',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'pipe', ...(options.preload === undefined ? [] : ['ipc' as const])],
  });
  const output = collect(child);
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  t.teardown(async () => {
    const ended = running() ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await ended;
  });
  await eventually(
    async () => {
      if (!running()) throw new Error(`the gateway has ended:\n${output()}`);
      return (await fetch(`${internalUrl}/readyz`).catch(() => null))?.status === 200;
    },
    { limitMs: 60_000, everyMs: 25 },
  );
  const accounts = await makeAccounts(`http://127.0.0.1:${port}`, internalUrl);
  return { port, internalUrl, ...accounts, output, running, child };
}

async function makeAccounts(
  url: string,
  internalUrl: string,
): Promise<Pick<World, 'parent' | 'sub' | 'solo' | 'subAccounts'>> {
  const operator = (path: string, body: object): Promise<HttpResponse> =>
    post(`${internalUrl}/admin/v1/accounts${path}`, adminToken, body);
  const parentOf = async (
    externalId: string | null,
  ): Promise<{
    id: string;
    manage: (path: string, body?: object) => Promise<HttpResponse>;
  }> => {
    const { id } = await operator('', { name: 'parent', external_id: externalId });
    const minted = await operator(`/${id}/api-keys`, {
      name: 'manager',
      scopes: ['sub_accounts:read', 'sub_accounts:write'],
    });
    return { id, manage: (path, body) => post(`${url}/v1/sub-accounts${path}`, minted.api_key, body) };
  };
  const holder = async (
    accountId: string,
    externalId: string | null,
    minted: Promise<HttpResponse>,
  ): Promise<Holder> => {
    const { id: keyId, api_key: key } = await minted;
    return { key, keyId, accountId, externalId, scopes };
  };
  const scopes = ['orders:read', 'orders:write'];
  const [first, foreign, alone] = [await parentOf('acme'), await parentOf('other'), await parentOf(null)];
  const a = await first.manage('', { name: 'a', external_id: 'a' });
  const b = await first.manage('', { name: 'b', external_id: 'b' });
  const c = await foreign.manage('', { name: 'c', external_id: 'c' });
  await first.manage(`/${b.id}/deactivate`);
  return {
    parent: await holder(first.id, 'acme', operator(`/${first.id}/api-keys`, { name: 'caller', scopes })),
    sub: await holder(a.id, 'a', first.manage(`/${a.id}/api-keys`, { name: 'caller', scopes })),
    solo: await holder(alone.id, null, operator(`/${alone.id}/api-keys`, { name: 'caller', scopes })),
    subAccounts: { a: a.id, b: b.id, foreign: c.id },
  };
}

interface HttpResponse {
  readonly id: string;
  readonly api_key: string;
}

async function post(url: string, token: string, body: object = {}): Promise<HttpResponse> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as HttpResponse;
}

function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-200_000)));
  }
  return () => text;
}
