/** nginx and HAProxy, configured to pass on as much of a request as they can, for tests of what gets through them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { tempFolder } from './process.ts';
import type { Scope } from './servers.ts';
import { unusedPort } from '../servers/unused-port.mjs';

export interface OddProxy {
  /** Its path; `undefined` if this machine does not have it. */
  readonly program: string | undefined;
  /** Starts it before `origin`, a URL without a path. Resolves to its own URL. */
  readonly start: (t: Scope, origin: string) => Promise<string>;
}

/** Starts nginx with a cache before `origin`, as its manual has it; `X-Cache` says whether it asked. Resolves to its URL. */
export function startCache(t: Scope, origin: string): Promise<string> {
  return startNginx(
    t,
    origin,
    oddProxies.nginx.program,
    'proxy_cache kept; proxy_cache_valid 200 1m; add_header X-Cache $upstream_cache_status always;',
  );
}

export const oddProxies: Readonly<Record<'nginx' | 'haproxy', OddProxy>> = {
  nginx: proxyOf('nginx', startNginx),
  haproxy: proxyOf('haproxy', startHaproxy),
};

function proxyOf(
  name: string,
  start: (t: Scope, origin: string, program?: string) => Promise<string>,
): OddProxy {
  const program = ['/usr/sbin', '/usr/local/sbin', '/usr/bin', '/opt/homebrew/bin']
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
  return { program, start: (t, origin) => start(t, origin, program) };
}

/** nginx with all its readiness to pass on what is odd, and its own reading of the path in a header. */
async function startNginx(t: Scope, origin: string, program = '', more = ''): Promise<string> {
  const folder = tempFolder(t);
  const port = await unusedPort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const name of temporary) mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors crit;
    events { worker_connections 4096; }
    http {
      access_log off; ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
      underscores_in_headers on; ignore_invalid_headers off; client_max_body_size 0;
      proxy_cache_path ${folder}/kept keys_zone=kept:1m;
      large_client_header_buffers 8 64k; proxy_ignore_client_abort on; keepalive_requests 1000000; keepalive_timeout 120s;
      upstream origin { server ${origin.slice('http://'.length)}; keepalive 64; keepalive_requests 1000000; }
      server {
        listen 127.0.0.1:${port} backlog=1024;
        location / {
          proxy_pass http://origin; proxy_http_version 1.1;
          proxy_set_header Host $http_host; proxy_set_header Connection "";
          proxy_set_header X-Nginx-Uri "$uri|"; ${more}
        }
      }
    }`,
  );
  return run(t, program, ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'errors')], port);
}

async function startHaproxy(t: Scope, origin: string, program = ''): Promise<string> {
  const folder = tempFolder(t);
  const port = await unusedPort();
  writeFileSync(
    join(folder, 'haproxy.cfg'),
    `global
  maxconn 4000
  tune.bufsize 65536
defaults
  mode http
  timeout connect 5s
  timeout client 120s
  timeout server 120s
  retries 0
frontend clients
  bind 127.0.0.1:${port}
  http-request set-header X-Haproxy-Path %[path]|
  default_backend origin
backend origin
  server origin ${origin.slice('http://'.length)}
`,
  );
  return run(t, program, ['-db', '-f', join(folder, 'haproxy.cfg')], port);
}

async function run(t: Scope, program: string, args: readonly string[], port: number): Promise<string> {
  const child = spawn(program, args, { stdio: 'ignore' });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode !== null || !child.kill('SIGKILL')) return;
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    return (await fetch(`${url}/started`).catch(() => null)) !== null;
  });
  return url;
}
