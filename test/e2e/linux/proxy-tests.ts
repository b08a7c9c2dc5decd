import t, { type Test } from 'tap';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { operatorToken } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { readText } from '../../support/helm.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
import { parentOf } from '../../support/reload.ts';
import { startRawUpstream, type Upstream } from '../../support/upstreams.ts';
import { metric } from '../../support/workers.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import type { FrontProxy, Setting } from './proxies.ts';

/** Defines the test of each of these proxies. */
export function testProxies(proxies: readonly FrontProxy[]): void {
  for (const proxy of proxies) testProxy(proxy);
}

function testProxy(proxy: FrontProxy): void {
  const { name, program } = proxy;
  t.test(
    `${name} as in the example: two gateways, one of which is restarted, and no request is lost`,
    {
      skip:
        program === undefined && `NO ${name} ON THIS MACHINE: the example in front of gateways was not tried`,
    },
    async (t) => holds(t, proxy),
  );
}

async function start(t: Test, { program = '', prepare, check }: FrontProxy, setting: Setting): Promise<void> {
  const args = prepare(setting);
  const checked = check && spawnSync(program, check(args), { encoding: 'utf8' });
  t.equal(checked?.status ?? 0, 0, checked?.stderr ?? '');
  // Caddy keeps its own state in a home directory.
  const child = spawn(program, args, { stdio: 'ignore', env: { ...process.env, HOME: setting.folder } });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await eventually(async () => (await get(setting.port, '/', {}).catch(() => null))?.status === 401, {
    everyMs: 50,
  });
}

/** What each has to do. */
async function holds(t: Test, proxy: FrontProxy): Promise<void> {
  const folder = tempFolder(t);
  const [port, upstream, open] = [await unusedPort(), await headersUpstream(t), await headersUpstream(t)];
  writeFileSync(
    `${folder}/gateway.yaml`,
    readText('examples/linux/gateway.yaml').replace('http://127.0.0.1:3000', upstream.url),
  );
  const env = {
    DATABASE_URL: await freshDatabase(t),
    ADMIN_TOKEN: operatorToken,
    CONFIG: `${folder}/gateway.yaml`,
    // On a machine with other work, renewals of a lease of three seconds come too late.
    COHERENCE_LEASE_MS: '30000',
  };
  const gateways = [await startProcess(t, env), await startProcess(t, env)];
  for (const { internalUrl } of gateways) await becomes(internalUrl, 200);
  await start(t, proxy, { folder, port, healthPort: await unusedPort(), gateways, publicUrl: open.url });

  const [first, second] = gateways;
  const { key } = await parentOf(t, first?.url ?? '', first?.internalUrl ?? '');
  const headers = { authorization: `Bearer ${key}` };

  await believesNothing(t, port, headers);
  await splitsPaths(t, port);

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
  const used = () => metric(again.internalUrl, 'request_duration_seconds_count');
  await eventually(async () => ((await used()) ?? 0) > 0, { everyMs: 50 });
  going = false;
  await Promise.all(clients);
  const admitted = proxy.asksNothing ? /^(?:POST 502 |\w+ 503 .*"code":"unavailable")/ : /^$/;
  const lost = failed.filter((failure) => !admitted.test(failure));
  if (failed.length > lost.length)
    t.comment(`${proxy.name}: ${failed.length} of ${sent} failed for want of a check of /readyz`);
  t.same(lost.slice(0, 5), [], `${lost.length} of ${sent} requests failed`);
}

/** A client chooses neither its address nor the id of its request. */
async function believesNothing(t: Test, port: number, key: Readonly<Record<string, string>>): Promise<void> {
  const forged = {
    ...{ ...key, 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' },
    ...{ 'x-forwarded-host': 'evil.example', 'x-request-id': 'mine', forwarded: 'for=203.0.113.9' },
  };
  const { body, requestId } = await get(port, '/files/a%20b?c=%2F', forged);
  const seen = JSON.parse(body) as IncomingHttpHeaders & { target: string };
  t.equal(seen.target, '/files/a%20b?c=%2F', 'the path comes as it was sent');
  // Envoy says an address of the machine's for a client on loopback.
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  const [client = '', ...hops] = String(seen['x-forwarded-for']).split(', ');
  t.ok(own.includes(client), `the address of the connection: ${client}`);
  t.same(hops, ['127.0.0.1'], 'and the proxy');
  t.equal(seen['x-forwarded-proto'], 'https');
  t.equal(String(seen['x-forwarded-host']).replace(/:\d+$/, ''), 'api.example.com');
  t.equal(seen.host, 'api.example.com');
  t.notMatch(seen['x-request-id'], /^mine$/, 'the client does not choose the id of its request');
  t.equal(requestId, seen['x-request-id']);
  const odd = await get(port, '/files/../secret//a', key);
  t.equal(odd.status, 400, 'the gateway judges a path that can be read in two ways');
}

/** Some paths have another backend, which gets no header of the gateway. */
async function splitsPaths(t: Test, port: number): Promise<void> {
  const forged = { 'x-service-resolved-tenant': 'forged', 'x-service-caller-scopes': 'forged' };
  for (const path of ['/login', '/webhooks/stripe?id=1']) {
    const { status, body } = await get(port, path, forged, undefined, 'POST');
    const { target, ...headers } = JSON.parse(body) as IncomingHttpHeaders & { target: string };
    t.same({ status, target }, { status: 200, target: path }, `${path} needs no key`);
    t.notMatch(JSON.stringify(headers), 'forged', 'and nothing of a tenant gets there');
  }
  for (const path of [
    '/logins',
    '/LOGIN',
    '/webhooks',
    '/webhooks/a/b',
    '/x?/login',
    '/webhooks/..%2Ffiles',
  ]) {
    t.match((await get(port, path, forged)).status, /^40[01]$/, `${path} is the gateway's`);
  }
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
): Promise<{ readonly status: number | undefined; readonly body: string; readonly requestId: unknown }> {
  const name = 'api.example.com';
  const named = { servername: name, headers: { host: name, ...headers }, rejectUnauthorized: false };
  const options = { host: '127.0.0.1', port, path, method, agent, ...named };
  const outgoing = request(options);
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { statusCode: status, headers: received } = response;
  return { status, body: await text(response), requestId: received['x-request-id'] };
}
