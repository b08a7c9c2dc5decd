import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Processes } from './lib/processes.ts';
import { findTool } from './lib/tools.ts';
import { startUpstream, type Upstream } from './upstream/upstream.ts';

/** What all targets of a run share: the upstream, the cores, and a folder. */
export interface Environment {
  /** Folder that goes away with the run. */
  readonly dir: string;
  readonly processes: Processes;
  readonly upstream: Upstream;
  readonly proxyCore: number;
  readonly otherCore: number;
}

/** Programs without which nothing can be measured, and Debian's packages that have them. */
const needed = { nginx: 'nginx', taskset: 'util-linux', setpriv: 'util-linux' } as const;

/**
 * Sets the environment up, works in it and takes it down, also when interrupted. This process itself moves to the core of
 * everything that is not the proxy, and what it starts inherits that.
 *
 * @throws Error that says how to get what is missing
 */
export async function inEnvironment<Outcome>(
  { proxyCore, otherCore }: Pick<Environment, 'proxyCore' | 'otherCore'>,
  work: (environment: Environment) => Promise<Outcome>,
): Promise<Outcome> {
  requireTools();
  execFileSync('taskset', ['-acp', String(otherCore), String(process.pid)], { stdio: 'ignore' });
  const dir = mkdtempSync(join(tmpdir(), 'tenancy-gateway-bench-'));
  const processes = new Processes(dir);
  const clear = async (): Promise<void> => {
    await processes.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => void clear().finally(() => process.exit(128 + constants.signals[name])));
  }
  try {
    const upstream = await startUpstream(processes, dir, otherCore);
    try {
      return await work({ dir, processes, upstream, proxyCore, otherCore });
    } finally {
      upstream.close();
    }
  } finally {
    await clear();
  }
}

function requireTools(): void {
  if (process.platform !== 'linux') throw new Error('Measuring needs Linux: /proc, taskset and setpriv.');
  const missing = Object.entries(needed).filter(([name]) => findTool(name) === undefined);
  if (missing.length > 0) {
    throw new Error(`Missing: apt-get install ${missing.map(([, debian]) => debian).join(' ')}`);
  }
}
