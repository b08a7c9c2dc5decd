// class: built
import t, { type Test } from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { configFile } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { keptClient } from '../support/kept-clients.ts';
import { becomes } from '../support/process.ts';
import { requestText } from '../support/raw-client.ts';
import { rawSql } from '../support/store.ts';
import { startUpstream } from '../support/upstreams.ts';
import { startWorkers } from '../support/workers.ts';

t.test('SIGTERM under load: no request on a kept connection is lost, none is processed unanswered', (t) =>
  stopUnderLoad(t, false),
);

t.test('the same over TLS', (t) => stopUnderLoad(t, true));

async function stopUnderLoad(t: Test, tls: boolean): Promise<void> {
  const { program, port, internalUrl, key, upstream, sql } = await start(t, tls);
  const headers: [string, string][] = [['Authorization', `Bearer ${key}`]];
  const get = requestText('GET', '/things', headers);
  const post = requestText('POST', '/things', headers, 'x'.repeat(500));
  const management = requestText('GET', '/v1/sub-accounts', headers);
  const old = requestText('GET', '/things', [...headers, ['Connection', 'keep-alive']]).replace(
    '/1.1',
    '/1.0',
  );

  let draining = (): void => undefined;
  const untilDraining = new Promise<void>((resolve) => (draining = resolve));
  const client = (batch: string[], pause?: () => Promise<unknown>) =>
    keptClient(t, { port, tls, batch, ...(pause && { pause }) });
  const clients = [
    ...Array.from({ length: 8 }, () => client([get])),
    ...Array.from({ length: 4 }, () => client([post])),
    ...Array.from({ length: 4 }, () => client([management])),
    ...Array.from({ length: 4 }, () => client([old])),
    ...Array.from({ length: 4 }, () => client([get, get, get, get, get])),
    // These have sent one request, and send the next one when the drain has begun.
    ...Array.from({ length: 8 }, () => client([get], () => untilDraining)),
  ];
  await eventually(() => clients.every(({ outcome }) => outcome.served > 0));

  program.child.kill('SIGTERM');
  await becomes(internalUrl, 503, 'draining');
  draining();
  const late = client([get]);
  await Promise.all([...clients, late].map(({ told }) => told));

  for (const { outcome } of [...clients, late]) t.same(outcome.failures, []);
  t.equal(late.outcome.served, 1, 'a connection that is opened later is served, too');
  t.equal(await program.ended(), 0);
  const served = [...clients, late].reduce((sum, { outcome }) => sum + outcome.served, 0);
  const managed = clients.slice(12, 16).reduce((sum, { outcome }) => sum + outcome.served, 0);
  t.equal(upstream.heads, served - managed, 'the upstream got no request whose client got no response');
  t.match(await sql`select sum(requests)::int as requests from usage_hourly`, [
    { requests: served - managed },
  ]);
}

async function start(t: Test, tls: boolean) {
  const folder = t.testdir({ 'tls.crt': certificate.a.cert, 'tls.key': certificate.a.key });
  const listen = `listen: {tls: {cert_file: ${folder}/tls.crt, key_file: ${folder}/tls.key}}`;
  const upstream = await startUpstream(t);
  const env = { CONFIG: configFile(t, tls ? listen : ''), UPSTREAM_URL: upstream.url };
  const gateway = await startWorkers(t, env, 1);
  return { ...gateway, upstream, sql: rawSql(t, gateway.databaseUrl) };
}
