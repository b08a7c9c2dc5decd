/** A gateway of several workers, as people start it, and its processes. */
import { operatorToken } from './apis.ts';
import { eventually } from './eventually.ts';
import { freshDatabase } from './postgres.ts';
import { becomes, startProcess, type GatewayProcess } from './process.ts';
import { childrenOf } from './processes.ts';
import { parentOf } from './reload.ts';
import type { Scope } from './servers.ts';
import { migrated } from './store.ts';

export interface WorkersProcess extends GatewayProcess {
  readonly env: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
  /** Of a parent account. */
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
  const { key } = await parentOf(t, gateway.url, gateway.internalUrl);
  const port = Number(new URL(gateway.url).port);
  const pids = (): number[] => childrenOf(gateway.program.child.pid as number);
  return { ...gateway, databaseUrl, key, port, pids };
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
