import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { fromRunner, type Scope } from './servers.ts';
import { unusedPort } from '../servers/unused-port.mjs';

/** A Sentinel that watches one master, ended with the test. Returns its `host:port`. */
export async function startSentinel(t: Scope, master: string, masterUrl: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'tenancy-gateway-test-sentinel-'));
  const { hostname, port: masterPort } = new URL(masterUrl);
  const port = await unusedPort();
  const file = join(dir, 'sentinel.conf');
  writeFileSync(
    file,
    `bind 127.0.0.1\nport ${port}\ndir ${dir}\nsentinel monitor ${master} ${hostname} ${masterPort} 1\n`,
  );
  const child = spawn(fromRunner('TEST_REDIS_SERVER'), [file, '--sentinel'], { stdio: 'ignore' });
  t.teardown(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    rmSync(dir, { recursive: true, force: true });
  });
  const probe = new Redis({ host: '127.0.0.1', port, retryStrategy: () => 20, maxRetriesPerRequest: null });
  probe.on('error', () => undefined);
  t.teardown(() => probe.disconnect());
  await eventually(async () => (await probe.ping()) === 'PONG');
  return `127.0.0.1:${port}`;
}
