/** A gateway of several workers, as people start it, and its processes. */
import { operatorToken, type Parent } from './apis.ts';
import { eventually } from './eventually.ts';
import { freshDatabase } from './postgres.ts';
import { becomes, startProcess, type GatewayProcess } from './process.ts';
import { childrenOf } from './processes.ts';
import { rawClient, requestText, type RawClient, type RawResponse } from './raw-client.ts';
import { parentOf } from './reload.ts';
import type { Scope } from './servers.ts';
import { migrated } from './store.ts';

export interface WorkersProcess extends GatewayProcess {
  readonly env: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
  readonly parent: Parent;
  /** The parent's. */
  readonly key: string;
  readonly port: number;
  /** Process ids, in the order in which they were started. */
  readonly pids: () => number[];
}

/** Starts workers on a database of their own, and waits until all can decide. One has no process of its own. */
export async function startWorkers(
  t: Scope,
  env: Readonly<Record<string, string>>,
  count = 2,
): Promise<WorkersProcess> {
  const databaseUrl = await freshDatabase(t, migrated);
  const gateway = await startProcess(t, {
    WORKERS: String(count),
    DATABASE_URL: databaseUrl,
    ADMIN_TOKEN: operatorToken,
    ...env,
  });
  await becomes(gateway.internalUrl, 200);
  if (count > 1) await allReady(gateway.internalUrl, count);
  const parent = await parentOf(t, gateway.url, gateway.internalUrl);
  const port = Number(new URL(gateway.url).port);
  const pids = (): number[] => childrenOf(gateway.program.child.pid as number);
  return { ...gateway, databaseUrl, parent, key: parent.key, port, pids };
}

/** Waits until so many workers can decide. */
export async function allReady(internalUrl: string, count: number): Promise<void> {
  await eventually(async () => (await metric(internalUrl, 'workers')) === count, { everyMs: 25 });
}

/** The sum of all series of a metric of the gateway's; `undefined` where it is not shown. */
export async function metric(internalUrl: string, name: string, labels = ''): Promise<number | undefined> {
  const response = await fetch(`${internalUrl}/metrics`).catch(() => null);
  if (response === null) return undefined;
  const values = (await response.text())
    .split('\n')
    .filter((line) => new RegExp(`^tenancy_gateway_${name}[{ ]`).test(line) && line.includes(labels))
    .map((line) => Number(line.split(' ').at(-1)));
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}

/**
 * One kept connection to each of two workers. They take turns, but one whose lease has lapsed on a busy machine is passed over:
 * then both connections are closed, and two others made.
 *
 * @param first is sent on each, and makes a line of the log
 * @param connect makes a connection
 */
export async function onePerWorker(
  t: Scope,
  { port, key, program }: WorkersProcess,
  first: (client: RawClient) => Promise<unknown> = (client) => send(client, key),
  connect: () => Promise<RawClient> = () => rawClient(t, port),
): Promise<RawClient[]> {
  for (;;) {
    const before = requestLines(program).length;
    const clients = [await connect(), await connect()];
    await Promise.all(clients.map(first));
    await eventually(() => requestLines(program).length >= before + 2);
    const workers = requestLines(program)
      .slice(before)
      .map(({ worker }) => worker);
    if (new Set(workers).size === 2) return clients;
    for (const { socket } of clients) socket.destroy();
  }
}

/** The workers that have served requests so far, in order. @param path of the requests; any where there is none */
export function servedBy(program: GatewayProcess['program'], path?: RegExp): unknown[] {
  const lines = requestLines(program).filter(({ path: its }) => path?.test(String(its)) ?? true);
  return [...new Set(lines.map(({ worker }) => worker))].sort();
}

function requestLines(program: GatewayProcess['program']): ReturnType<typeof program.log> {
  // Those of operators may be written late, for they go to any worker.
  return program.log().filter(({ msg, path }) => msg === 'request' && !String(path).startsWith('/admin/'));
}

export function send(client: RawClient, key: string, path = '/x'): Promise<RawResponse> {
  client.send(requestText('GET', path, [['Authorization', `Bearer ${key}`]]));
  return client.response();
}

/** On a connection of its own. */
export async function ask(t: Scope, port: number, key: string): Promise<RawResponse> {
  return send(await rawClient(t, port), key);
}
