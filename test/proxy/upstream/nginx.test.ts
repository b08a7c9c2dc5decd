// class: real
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startGateway } from '../../support/gateway.ts';
import { rawClient } from '../../support/raw-client.ts';
import type { Scope } from '../../support/servers.ts';
import { startUpstream } from '../../support/upstreams.ts';

const nginx = ['nginx', '/usr/sbin/nginx'].find((path) => spawnSync(path, ['-v']).status === 0);
const skip = nginx === undefined && 'NO NGINX ON THIS MACHINE: the gateway was not tried in front of one';

t.test('nginx: kept connections, chunks, compression, ranges, redirects', { skip }, async (t) => {
  const upstream = await startNginx(
    t,
    (directory, socket) => `gzip on; gzip_types text/plain; types { text/plain txt; }
      server {
        listen unix:${socket};
        root ${directory};
        location /tenant { return 200 "$http_x_service_resolved_tenant $http_host"; }
        location /connection { return 200 "$connection $connection_requests"; }
        location /moved { return 301 http://$http_host/elsewhere; }
        location /too-large { client_max_body_size 1k; proxy_pass http://unix:${directory}/nobody; }
        location /closing { keepalive_timeout 0; return 200 closing; }
      }`,
  );
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

t.test('nginx: a cache between the gateway and a service, as the docs have it', { skip }, async (t) => {
  const service = await startUpstream(t, ({ values }, response) => {
    response.setHeader('x-accel-expires', '60').end(values('x-service-caller-scopes')[0]);
  });
  const docs = readFileSync(new URL('../../../docs/upstreams.md', import.meta.url), 'utf8');
  const cache = /^```nginx\n(proxy_cache_path [^]*?)```$/m.exec(docs)?.[1] ?? '';
  const upstream = await startNginx(t, (directory, socket) =>
    cache
      .replace('/var/cache/nginx/api', `${directory}/kept`)
      .replace('127.0.0.1:3001', `unix:${socket}`)
      .replace('127.0.0.1:3000', `127.0.0.1:${service.port}`),
  );
  const { call, directory, parent } = await startGateway(t, { routes: { '/': upstream } });
  const [one, two] = [['a:read'], ['a:read', 'b:read']].map((scopes) =>
    directory.addSubAccount(parent, null, scopes),
  );
  directory.addSubAccount(parent, 'ada');
  const acting = { headers: [['X-Service-Acting-Tenant', 'ext:ada']] } as const;
  const cases = [[parent.key], [parent.key, acting], [one?.key], [two?.key]] as const;
  const asked = () => Promise.all(cases.map(([key = '', more]) => call('GET', '/x?y', { key, ...more })));
  const first = await asked();
  t.same(first.map(({ body }) => body).slice(2), ['a:read', 'a:read b:read']);
  t.equal(service.heads, cases.length, 'each tenant has its own');
  t.same(
    (await asked()).map(({ body }) => body),
    first.map(({ body }) => body),
  );
  t.equal(service.heads, cases.length, 'each was kept');
  directory.revoke(parent.revoked);
  t.equal((await call('GET', '/x?y')).status, 401);
});

/** @param httpOf what its `http` has, given a directory and the socket that it listens on */
async function startNginx(t: Scope, httpOf: (directory: string, socket: string) => string): Promise<string> {
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
      access_log off; ${temporary.join(' ')}
      ${httpOf(directory, socket)}
    }`,
  );
  const child = spawn(nginx ?? '', ['-c', join(directory, 'nginx.conf'), '-e', join(directory, 'errors')], {
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
