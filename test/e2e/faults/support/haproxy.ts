/** HAProxy in front of gateways, as a balancer that knows nothing of them but what `/readyz` says. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../support/eventually.ts';
import { tempFolder } from '../../../support/process.ts';
import type { Scope } from '../../../support/servers.ts';
import { unusedPort } from '../../../servers/unused-port.mjs';

const program = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/opt/homebrew/bin/haproxy'].find((file) =>
  existsSync(file),
);

/** Whether there is one on this machine. */
export const haproxyThere = program !== undefined;

export interface Haproxy {
  readonly url: string;
  /** Waits until it sends requests to server number `index`. */
  isUp(index: number): Promise<void>;
}

/** How often it asks `/readyz`, in milliseconds. One rejection takes a server out. */
export const checkEveryMs = 100;

/** Starts it before `servers`. What fails is not tried again: a retry would hide it. */
export async function startHaproxy(
  t: Scope,
  servers: readonly { readonly url: string; readonly internalUrl: string }[],
): Promise<Haproxy> {
  if (program === undefined) throw new Error('there is no HAProxy on this machine');
  const [port, statsPort] = [await unusedPort(), await unusedPort()];
  const file = join(tempFolder(t), 'haproxy.cfg');
  writeFileSync(file, configuration(port, statsPort, servers));
  const child = spawn(program, ['-db', '-f', file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    url: `http://127.0.0.1:${port}`,
    isUp: (index) => eventually(async () => (await statusOf(statsPort, index)) === 'UP', { everyMs: 25 }),
  };
}

async function statusOf(statsPort: number, index: number): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${statsPort}/;csv`).catch(() => null);
  const lines = (await response?.text())?.split('\n') ?? [];
  const column = lines[0]?.split(',').indexOf('status') ?? -1;
  return lines.find((line) => line.startsWith(`gateways,gateway${index},`))?.split(',')[column];
}

function configuration(
  port: number,
  statsPort: number,
  servers: readonly { readonly url: string; readonly internalUrl: string }[],
): string {
  const lines = servers.map(
    ({ url, internalUrl }, i) =>
      `  server gateway${i} ${new URL(url).host} check port ${new URL(internalUrl).port} inter ${checkEveryMs} fall 1 rise 1`,
  );
  return `
global
  nbthread 1
  maxconn 2000
defaults
  mode http
  retries 0
  timeout client 2m
  timeout server 2m
  timeout connect 5s
  timeout check 5s
listen stats
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /
listen gateways
  bind 127.0.0.1:${port}
  balance roundrobin
  option httpchk GET /readyz
${lines.join('\n')}
`;
}
