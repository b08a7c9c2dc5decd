/**
 * Measures the usage report as CSV over HTTP: all lines by day of a year of 10,000 sub-accounts, from a built gateway. Prints for how
 * long it was sent, how much it was, and the memory that the gateway's process took for it.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from './files.ts';
import { freePort } from './free-port.ts';

const token = 'measured-measured-measured-measured';

/** @param period dates, as a query says them */
export async function measureCsv(
  databaseUrl: string,
  parent: string,
  period: { readonly from: string; readonly to: string },
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'usage-csv-'));
  const [port, internalPort] = [await freePort(), await freePort()];
  const CONFIG = join(folder, 'gateway.yaml');
  // Nothing is deleted meanwhile.
  writeFileSync(CONFIG, 'usage: {hourly_retention_days: 3660}\n');
  const gateway = spawn(process.execPath, [join(root, 'dist/main.js')], {
    env: {
      ...{ PATH: process.env['PATH'], DATABASE_URL: databaseUrl, UPSTREAM_URL: 'http://127.0.0.1:9' },
      ...{ PORT: String(port), INTERNAL_PORT: String(internalPort), ADMIN_TOKEN: token },
      ...{ CONFIG, USAGE_JOURNAL_DIR: folder, LOG_LEVEL: 'warn' },
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const internal = `http://127.0.0.1:${internalPort}`;
  try {
    while (
      !(await fetch(`${internal}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await sleep(100);
    const before = peakOf(gateway.pid);
    const query = new URLSearchParams({
      account_id: parent,
      granularity: 'day',
      group_by: 'sub_account',
      ...period,
    });
    const began = performance.now();
    const response = await fetch(`${internal}/admin/v1/usage?${query.toString()}`, {
      headers: { Authorization: `Bearer ${token}`, Accept: 'text/csv' },
    });
    if (!response.ok || response.body === null) throw new Error(`responded with ${response.status}`);
    let [bytes, lines] = [0, -1];
    for await (const piece of response.body as AsyncIterable<Uint8Array>) {
      bytes += piece.length;
      for (const byte of piece) if (byte === 10) lines += 1;
    }
    const seconds = (performance.now() - began) / 1000;
    const mb = (n: number): string => `${Math.round(n / 2 ** 20)} MB`;
    return `CSV over HTTP: ${lines} lines, ${mb(bytes)}, in ${seconds.toFixed(0)} s; peak memory of the gateway ${mb(peakOf(gateway.pid))}, ${mb(before)} before.`;
  } finally {
    gateway.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bytes of memory that a process had at most (`VmHWM`). */
function peakOf(pid: number | undefined): number {
  const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) * 1024;
}
