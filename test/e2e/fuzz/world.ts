/** A gateway process over a real store, with the accounts and keys that the inputs speak of. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeParents, type Parent } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient, type Call } from '../../support/http-client.ts';
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
  await eventually(async () => {
    if (!running()) throw new Error(`the gateway has ended:\n${output()}`);
    return (await fetch(`${internalUrl}/readyz`).catch(() => null))?.status === 200;
  });
  const accounts = await makeAccounts(t, `http://127.0.0.1:${port}`, internalUrl);
  return { port, internalUrl, ...accounts, output, running, child };
}

async function makeAccounts(
  t: Scope,
  url: string,
  internalUrl: string,
): Promise<Pick<World, 'parent' | 'sub' | 'solo' | 'subAccounts'>> {
  const internal = httpClient(t, internalUrl);
  const operator: Call = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: adminToken, ...more });
  const newParent = makeParents(httpClient(t, url), operator);
  const scopes = ['orders:read', 'orders:write'];
  const parentOf = async (externalId: string | null): Promise<Parent> => {
    const parent = await newParent();
    const body = { external_id: externalId };
    if (externalId !== null) await operator('PATCH', `/accounts/${parent.id}`, { body });
    return parent;
  };
  const holder = async (call: Call, path: string, accountId: string, externalId: string | null) => {
    const { status, text, body } = await call('POST', `${path}/${accountId}/api-keys`, {
      body: { name: 'caller', scopes },
    });
    if (status !== 201) throw new Error(text);
    return { key: String(body['api_key']), keyId: String(body['id']), accountId, externalId, scopes };
  };
  const [first, foreign, alone] = [await parentOf('acme'), await parentOf('other'), await parentOf(null)];
  const a = await first.create({ name: 'a', external_id: 'a' });
  const b = await first.create({ name: 'b', external_id: 'b' });
  const c = await foreign.create({ name: 'c', external_id: 'c' });
  await b.act('deactivate');
  return {
    parent: await holder(operator, '/accounts', first.id, 'acme'),
    sub: await holder(first.call, '', a.id, 'a'),
    solo: await holder(operator, '/accounts', alone.id, null),
    subAccounts: { a: a.id, b: b.id, foreign: c.id },
  };
}

function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-200_000)));
  }
  return () => text;
}
