// class: real
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startGateway } from '../../support/gateway.ts';
import { rawClient } from '../../support/raw-client.ts';
import type { Scope } from '../../support/servers.ts';

const nginx = ['nginx', '/usr/sbin/nginx'].find((path) => spawnSync(path, ['-v']).status === 0);
const skip = nginx === undefined && 'NO NGINX ON THIS MACHINE: the gateway was not tried in front of one';

t.test('nginx: kept connections, chunks, compression, ranges, redirects', { skip }, async (t) => {
  const upstream = await startNginx(t, nginx ?? '');
  const { call, port, parent, requestOf } = await startGateway(t, { routes: { '/': upstream } });

  const plain = await call('GET', '/tenant');
  t.equal(plain.body, `${parent.id} gateway.test`);
  t.match(plain.headers['server'], /nginx/);

  const client = await rawClient(t, port);
  for (let i = 0; i < 20; i++) {
    client.send(requestOf('GET', '/connection'));
    const [connection, requests] = (await client.response()).body.split(' ');
    t.ok(connection);
    t.ok(Number(requests) >= i, 'the connection to nginx is kept');
  }

  const zipped = await call('GET', '/file.txt', { headers: [['Accept-Encoding', 'gzip']] });
  t.equal(zipped.headers['content-encoding'], 'gzip');
  t.equal(zipped.headers['transfer-encoding'], 'chunked');

  const range = await call('GET', '/file.txt', { headers: [['Range', 'bytes=0-9']] });
  t.equal(range.status, 206);
  t.equal(range.body, 'x'.repeat(10));

  const cached = await call('GET', '/file.txt', {
    headers: [['If-None-Match', (await call('HEAD', '/file.txt')).headers['etag'] ?? '']],
  });
  t.equal(cached.status, 304);

  t.equal((await call('GET', '/moved')).headers['location'], 'http://gateway.test/elsewhere');
  t.equal((await call('POST', '/too-large', { body: 'x'.repeat(200_000) })).status, 413);
  t.equal((await call('GET', '/closing')).headers['connection'], 'keep-alive', 'its Connection is not ours');
});

async function startNginx(t: Scope, binary: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'nginx-'));
  const socket = join(directory, 'nginx.sock');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  writeFileSync(join(directory, 'file.txt'), 'x'.repeat(5000));
  writeFileSync(
    join(directory, 'nginx.conf'),
    `daemon off; master_process off; pid ${directory}/pid; error_log ${directory}/errors;
    events {}
    http {
      access_log off; gzip on; gzip_types text/plain; types { text/plain txt; } ${temporary.join(' ')}
      server {
        listen unix:${socket};
        root ${directory};
        location /tenant { return 200 "$http_x_service_resolved_tenant $http_host"; }
        location /connection { return 200 "$connection $connection_requests"; }
        location /moved { return 301 http://$http_host/elsewhere; }
        location /too-large { client_max_body_size 1k; proxy_pass http://unix:${directory}/nobody; }
        location /closing { keepalive_timeout 0; return 200 closing; }
      }
    }`,
  );
  const child = spawn(binary, ['-c', join(directory, 'nginx.conf'), '-e', join(directory, 'errors')], {
    stdio: 'inherit',
  });
  t.teardown(() => {
    child.kill();
    rmSync(directory, { recursive: true });
  });
  while (!existsSync(socket)) {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return `unix:${socket}`;
}
