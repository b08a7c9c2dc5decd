import t, { type Test } from 'tap';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../../src/config/load.ts';
import { certificate } from '../../support/config-certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { readText } from '../../support/helm.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, cli, startProcess, tempFolder, type GatewayProcess } from '../../support/process.ts';
import { startRawUpstream, type Upstream } from '../../support/upstreams.ts';
import { unusedPort } from '../../support/unused-port.ts';

const nginx = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((file) => existsSync(file));
const haproxy = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((file) => existsSync(file));
const token = '0123456789abcdef0123456789abcdef';

t.test('the gateway accepts the configuration and the variables of the example', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': readText('examples/linux/gateway.yaml') });
  const pairs = [...readText('examples/linux/environment').matchAll(/^(\w+)=(.*)$/gm)];
  const env = Object.fromEntries(
    pairs.map(([, name, value]) => [name ?? '', (value ?? '').replace(':PASSWORD@', ':secret@')]),
  );
  const loaded = loadConfig({
    ...env,
    ADMIN_TOKEN: randomBytes(24).toString('hex'),
    CONFIG: `${folder}/gateway.yaml`,
  });
  t.match(loaded, {
    config: { store: { kind: 'postgres' }, routes: [{ upstream: 'http://127.0.0.1:3000' }] },
  });
});

t.test(
  'nginx as in the example: two gateways, one of which is restarted, and no request fails',
  { skip: nginx === undefined && 'NO NGINX ON THIS MACHINE: the example in front of gateways was not tried' },
  async (t) => {
    await holds(t, async ({ folder, port, gateways }) => {
      const snippet = localised(readText('examples/linux/nginx.conf'), folder, port, gateways);
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const paths = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
      writeFileSync(
        `${folder}/main.conf`,
        `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors; worker_processes 1; events {}
        http { access_log off; ${paths} ${snippet} }`,
      );
      const args = ['-c', `${folder}/main.conf`, '-e', `${folder}/errors`];
      const checked = spawnSync(nginx ?? '', ['-t', ...args], { encoding: 'utf8' });
      t.equal(checked.status, 0, checked.stderr);
      await start(t, nginx ?? '', args, port);
    });
  },
);

t.test(
  'HAProxy as in the example: two gateways, one of which is restarted, and no request fails',
  {
    skip:
      haproxy === undefined && 'NO HAPROXY ON THIS MACHINE: the example in front of gateways was not tried',
  },
  async (t) => {
    await holds(t, async ({ folder, port, gateways }) => {
      const file = `${folder}/haproxy.cfg`;
      writeFileSync(file, localised(readText('examples/linux/haproxy.cfg'), folder, port, gateways));
      const checked = spawnSync(haproxy ?? '', ['-c', '-f', file], { encoding: 'utf8' });
      t.equal(checked.status, 0, checked.stderr);
      await start(t, haproxy ?? '', ['-db', '-f', file], port);
    });
  },
);

interface Setting {
  readonly folder: string;
  readonly port: number;
  readonly gateways: readonly GatewayProcess[];
}

/** The example with the ports and the certificate of this test. */
function localised(example: string, folder: string, port: number, gateways: Setting['gateways']): string {
  writeFileSync(`${folder}/tls.crt`, certificate.a.cert);
  writeFileSync(`${folder}/tls.key`, certificate.a.key);
  writeFileSync(`${folder}/tls.pem`, `${certificate.a.cert}\n${certificate.a.key}\n`);
  const [one, two] = gateways.map(({ url, internalUrl }) => [new URL(url).port, new URL(internalUrl).port]);
  return (
    example
      // Without the right to open as many files as that takes.
      .replace('maxconn 20000', 'maxconn 1000')
      .replaceAll('/etc/ssl/api.example.com', `${folder}/tls`)
      .replace(/listen 443/, `listen 127.0.0.1:${port}`)
      .replace(/bind :443/, `bind 127.0.0.1:${port}`)
      .replace('127.0.0.1:8080', `127.0.0.1:${one?.[0]}`)
      .replace('127.0.0.1:8081', `127.0.0.1:${two?.[0]}`)
      .replace('port 18080', `port ${one?.[1]}`)
      .replace('port 18081', `port ${two?.[1]}`)
  );
}

async function start(t: Test, program: string, args: readonly string[], port: number): Promise<void> {
  const child = spawn(program, args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await eventually(async () => (await get(port, '/', {}).catch(() => null))?.status === 401, { everyMs: 50 });
}

/** What both have to do. */
async function holds(t: Test, front: (setting: Setting) => Promise<void>): Promise<void> {
  const folder = tempFolder(t);
  const [port, upstream] = [await unusedPort(), await headersUpstream(t)];
  writeFileSync(
    `${folder}/gateway.yaml`,
    readText('examples/linux/gateway.yaml').replace('http://127.0.0.1:3000', upstream.url),
  );
  const env = {
    DATABASE_URL: await freshDatabase(t),
    ADMIN_TOKEN: token,
    CONFIG: `${folder}/gateway.yaml`,
    // On a machine with other work, renewals of a lease of three seconds come too late.
    COHERENCE_LEASE_MS: '30000',
  };
  const gateways = [await startProcess(t, env), await startProcess(t, env)];
  for (const { internalUrl } of gateways) await becomes(internalUrl, 200);
  await front({ folder, port, gateways });

  const [first, second] = gateways;
  const operate = async (...args: string[]): Promise<Record<string, string>> =>
    JSON.parse((await cli(first?.env ?? {}, '--json', ...args)).stdout) as Record<string, string>;
  const account = await operate('accounts', 'create', 'Acme');
  const minted = await operate('keys', 'create', account['id'] ?? '', '--name', 'first');
  const headers = { authorization: `Bearer ${minted['api_key']}` };

  const forged = {
    ...headers,
    host: 'api.example.com',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'http',
  };
  const seen = JSON.parse((await get(port, '/files/a%20b?c=%2F', forged)).body) as IncomingHttpHeaders & {
    target: string;
  };
  t.equal(seen.target, '/files/a%20b?c=%2F', 'the path comes as it was sent');
  t.equal(seen['x-forwarded-for'], '127.0.0.1, 127.0.0.1', 'the address of the connection, and the proxy');
  t.equal(seen['x-forwarded-proto'], 'https');
  t.equal(seen.host, 'api.example.com');

  const agent = new Agent({ keepAlive: true, maxSockets: 8, rejectUnauthorized: false });
  t.teardown(() => agent.destroy());
  let [sent, going] = [0, true];
  const failed: string[] = [];
  const clients = Array.from({ length: 8 }, async (_, index) => {
    while (going) {
      sent += 1;
      const method = index % 4 ? 'GET' : 'POST';
      const response = await get(port, '/', headers, agent, method).catch(String);
      if (typeof response === 'string') failed.push(`${method} ${response}`);
      else if (response.status !== 200) failed.push(`${method} ${response.status} ${response.body}`);
      await sleep(10);
    }
  });
  t.equal(await second?.program.kill('SIGTERM'), 0, 'the second one is stopped');
  const again = await startProcess(t, second?.env ?? {});
  await becomes(again.internalUrl, 200);
  await eventually(async () => (await usedBy(again)) > 0, { everyMs: 50 });
  going = false;
  await Promise.all(clients);
  t.same(failed, [], `${sent} requests`);
}

/** Requests that a gateway has responded to with 200. */
async function usedBy({ internalUrl }: GatewayProcess): Promise<number> {
  const metrics = await (await fetch(`${internalUrl}/metrics`)).text();
  return Number(/^tenancy_gateway_request_duration_seconds_count\{.*\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
}

/** Responds with the headers it got. */
async function headersUpstream(t: Test): Promise<Upstream> {
  return startRawUpstream(t, () => (incoming, response) => {
    incoming.resume();
    response.end(JSON.stringify({ ...incoming.headers, target: incoming.url }));
  });
}

async function get(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  agent?: Agent,
  method = 'GET',
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const options = { host: '127.0.0.1', port, path, method, headers, agent, rejectUnauthorized: false };
  const outgoing = request(options);
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}
