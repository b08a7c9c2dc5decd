/**
 * The example services of `examples/services`, each behind a whole gateway: they know for whom a request is, PostgreSQL shows them
 * that tenant's rows alone, and what the gateway has not passed on is refused.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { makeParents, operatorToken } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient } from '../../support/http-client.ts';
import { Missing } from '../../support/installed-once.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { rawSql } from '../../support/store.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { services, type BuiltService } from './build-services.ts';

const schema = readFileSync(
  fileURLToPath(new URL('../../../examples/services/schema.sql', import.meta.url)),
  'utf8',
);

/** Defines the test of each of these services, by their names in `services`. */
export function testServices(names: readonly string[]): void {
  for (const name of names) testService(name, services[name]);
}

function testService(name: string, build: (typeof services)[string] | undefined): void {
  t.test(
    `a service in ${name} knows its tenants, and none but the gateway’s`,
    { timeout: 600_000 },
    async (t) => {
      if (build === undefined) throw new Error(`there is no service in ${name}`);
      const built = await build().catch((error: unknown) => {
        if (error instanceof Missing) return error;
        throw error;
      });
      if (built instanceof Missing) {
        return t.comment(`NOT TRIED: the example in ${name} needs ${built.message}`);
      }
      const { servicePort, call, operator } = await start(t, built);
      const parent = await makeParents(call, operator)(['sub_accounts:write', 'a', 'b']);
      const ada = await parent.create({ name: 'Ada', external_id: 'ada' });
      const as = (acting: string, method: string, path: string, body?: object) =>
        call(method, path, {
          key: parent.key,
          headers: [['X-Service-Acting-Tenant', acting]],
          ...(body && { body }),
        });

      const me = await as('ext:ada', 'GET', '/me');
      t.match(unified(me.body), {
        ...{
          id: ada.id,
          external_id: 'ada',
          parent_id: parent.id,
          caller_id: parent.id,
          key_id: parent.keyId,
        },
        ...{ scopes: ['sub_accounts:write', 'a', 'b'], request_id: me.headers['x-request-id'] },
      });

      for (const [acting, destination] of [
        ['ext:ada', 'Lyon'],
        ['self', 'Zürich "west"'],
      ] as const) {
        t.match(await as(acting, 'POST', '/shipments', { destination }), {
          status: 201,
          body: { destination },
        });
        t.match((await as(acting, 'GET', '/shipments')).text, destination.slice(0, 1));
      }
      const of = async (acting: string) =>
        JSON.parse((await as(acting, 'GET', '/shipments')).text) as object[];
      t.match(await of('ext:ada'), [{ destination: 'Lyon' }]);
      t.equal((await of('ext:ada')).length, 1, 'and no row of another tenant');
      t.match(await of('self'), [{ destination: 'Zürich "west"' }]);

      const forged = {
        'X-Service-Resolved-Tenant': ada.id,
        'X-Service-Parent-Tenant': parent.id,
        'X-Service-Caller-Tenant': parent.id,
        'X-Service-Caller-Key': parent.keyId,
        'X-Service-Caller-Scopes': '',
        'X-Request-Id': 'r',
      };
      const direct = (from: string, headers: Readonly<Record<string, string | string[]>>) =>
        sendFrom(from, servicePort, headers);
      t.match(await direct('127.0.0.1', forged), { status: 200 }, 'as the gateway would send it');
      const forwarded = { ...forged, 'X-Forwarded-For': '203.0.113.9' };
      t.match(
        await direct('127.0.0.1', forwarded),
        { status: 200 },
        'the peer counts, not what is forwarded',
      );
      const refused = await direct('127.0.0.2', forged);
      t.match(refused, { status: 403, type: /^application\/problem\+json/ }, 'from another address');
      t.match(JSON.parse(refused.text), { detail: 'This request did not come through the gateway.' });
      for (const missing of Object.keys(forged)) {
        const { [missing as keyof typeof forged]: _left, ...others } = forged;
        t.equal((await direct('127.0.0.1', others)).status, 403, `without ${missing}`);
      }
      const twice = { ...forged, 'X-Service-Resolved-Tenant': [ada.id, parent.id] };
      t.equal((await direct('127.0.0.1', twice)).status, 403, 'with two tenants');
      await exempts(t, servicePort, { ...forged, X_Service_Resolved_Tenant: ada.id, Accept: '*/*' });
      const noUuid = { ...forged, 'X-Service-Resolved-Tenant': "' or true --" };
      t.equal((await direct('127.0.0.1', noUuid)).status, 403);
    },
  );
}

/** `/healthz` is exempt: it can be requested from anywhere, its handler sees no tenant, and no other path passes for it. */
async function exempts(t: Test, port: number, forged: Readonly<Record<string, string>>): Promise<void> {
  const probe = await sendFrom('127.0.0.2', port, forged, '/healthz?verbose');
  t.equal(probe.status, 200, 'a probe needs no headers of the gateway');
  const { headers } = JSON.parse(probe.text) as { readonly headers: readonly string[] };
  const names = headers.map((name) => name.toLowerCase().replaceAll('_', '-'));
  t.ok(names.includes('accept'));
  t.same(
    names.filter((name) => /^x-(?:service|request-id)/.test(name)),
    [],
    'and none of them gets to its handler',
  );
  for (const target of disguised) {
    const { status } = await sendFrom('127.0.0.2', port, forged, target);
    t.ok(status >= 400 && status < 500, `${target} is not exempt: ${status}`);
  }
  // gunicorn takes a mount path from its neighbours' headers.
  const mounted = { SCRIPT_NAME: '/healthz' };
  for (const target of ['/healthz', '/healthz/me', '/healthz/healthz/../me']) {
    const { text } = await sendFrom('127.0.0.1', port, mounted, target);
    t.notMatch(text, 'key', `${target} leads to no other handler`);
  }
}

/** Paths that some server or framework reads as `/healthz`, or that begin or end with it. */
const disguised = [
  ...['/healthz/', '/healthz/me', '/HEALTHZ', '//healthz', '/./healthz', '/me/../healthz', '/healthz/../me'],
  ...[
    '/%68ealthz',
    '/healthz%20',
    '/healthz%2F..%2Fme',
    '/healthz/%2e%2e/me',
    '/healthz;x',
    '/healthz;/../me',
  ],
  ...['/healthz%3Fx', '/healthz%23', '/me?/healthz', '/me?x=/healthz'],
];

async function start(t: Test, { command, args, cwd, env, gateways }: BuiltService) {
  const [port, database] = [await unusedPort(), await freshDatabase(t)];
  await rawSql(t, database).unsafe(schema);
  const { hostname, port: databasePort, pathname } = new URL(database);
  const child = spawn(command, args(port), {
    cwd,
    env: {
      ...{ PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', PORT: String(port), ...env },
      ...{ DATABASE_URL: `${database}?sslmode=disable`, GATEWAYS: gateways },
      JDBC_URL: `jdbc:postgresql://${hostname}:${databasePort}${pathname}?user=postgres`,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    return (await fetch(`http://127.0.0.1:${port}/me`).catch(() => null)) !== null;
  });
  const { url, internalUrl } = await startProcess(t, {
    DATABASE_URL: await freshDatabase(t),
    UPSTREAM_URL: `http://127.0.0.1:${port}`,
    ADMIN_TOKEN: operatorToken,
  });
  await becomes(internalUrl, 200);
  const internal = httpClient(t, internalUrl);
  const operator: typeof internal = (method, path, more) =>
    internal(method, `/admin/v1${path}`, { key: operatorToken, ...more });
  return { servicePort: port, call: httpClient(t, url), operator };
}

/** In Python names are written with underscores. */
function unified(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [snake(name), value]));
}

async function sendFrom(
  localAddress: string,
  port: number,
  headers: Readonly<Record<string, string | string[]>>,
  path = '/me',
): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const request = sendRequest(
      { host: '127.0.0.1', port, path, localAddress, headers, agent: false },
      (response) => {
        const { statusCode: status = 0, headers } = response;
        buffer(response).then(
          (body) => resolve({ status, type: headers['content-type'] ?? '', text: body.toString() }),
          reject,
        );
      },
    );
    request.on('error', reject).end();
  });
}
