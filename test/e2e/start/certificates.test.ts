// class: built
/** A certificate that runs out while a gateway runs, is reloaded, or starts. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { join } from 'node:path';
import t from 'tap';
import { certificate } from '../../support/config-certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { becomes, cli, startProcess, tempFolder } from '../../support/process.ts';
import { valueOf } from '../../support/scrape.ts';
import type { Scope } from '../../support/servers.ts';

const expiration = 'tenancy_gateway_certificate_expiration_timestamp_seconds';
const successful = 'tenancy_gateway_config_last_reload_successful';
const succeededAt = 'tenancy_gateway_config_last_reload_success_timestamp_seconds';

for (const WORKERS of ['1', '2']) {
  t.test(
    `an expired certificate is rejected by a reload and shown by metrics, ${WORKERS} worker`,
    async (t) => {
      const { env, replace } = files(t);
      const { program, url, internalUrl } = await startProcess(t, { ...env, WORKERS });
      await becomes(internalUrl, 503, 'starting');
      const began = await valueOf(internalUrl, succeededAt);
      t.ok(Math.abs(began - Date.now() / 1000) < 600);
      t.equal(await valueOf(internalUrl, successful), 1);
      t.equal(await valueOf(internalUrl, `${expiration}{use="listener"}`), Date.UTC(2120, 0, 1) / 1000);

      replace('expired');
      program.child.kill('SIGHUP');
      await eventually(async () => (await valueOf(internalUrl, successful)) === 0);
      // The line may be written a moment after the metric.
      await program.prints(/not reloaded/);
      const line = program.log().find(({ msg }) => String(msg).includes('not reloaded'));
      t.match(line, { faults: [{ where: /listen\.tls\.cert_file/, detail: /expired at 2021-01-01/ }] });
      t.equal(await valueOf(internalUrl, succeededAt), began);
      t.equal(await valueOf(internalUrl, `${expiration}{use="listener"}`), Date.UTC(2120, 0, 1) / 1000);
      t.equal((await shownBy(url)).valid_to, 'Jan  1 00:00:00 2120 GMT', 'the one before is still shown');

      replace('a');
      program.child.kill('SIGHUP');
      await eventually(async () => (await valueOf(internalUrl, successful)) === 1);
      t.ok((await valueOf(internalUrl, succeededAt)) > began);
      t.equal(await program.kill('SIGTERM'), 0);
    },
  );
}

t.test('a start with an expired certificate warns and serves; `config check` rejects it', async (t) => {
  const { env, replace } = files(t);
  replace('expired');
  const { program, url, internalUrl } = await startProcess(t, env);
  await becomes(internalUrl, 503, 'starting');
  await program.prints(/certificate expired/);
  t.match(
    program.log().find(({ level }) => level === 'warn'),
    {
      where: /listen\.tls\.cert_file/,
      msg: 'the configuration: the certificate expired at 2021-01-01T00:00:00Z',
    },
  );
  t.equal(await valueOf(internalUrl, `${expiration}{use="listener"}`), Date.UTC(2021, 0, 1) / 1000);
  t.equal((await shownBy(url)).valid_to, 'Jan  1 00:00:00 2021 GMT');

  const { code, stderr } = await cli(env, 'config', 'check');
  t.equal(code, 78);
  t.match(stderr, /listen\.tls\.cert_file +the certificate expired at 2021-01-01T00:00:00Z/);
});

function files(t: Scope) {
  const folder = tempFolder(t);
  const cert = join(folder, 'tls.crt');
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const key = write('tls.key', certificate.a.key);
  const replace = (name: 'a' | 'expired'): void =>
    copyFileSync(write(`${name}.crt`, certificate[name].cert), cert);
  replace('a');
  const env = {
    CONFIG: write('gateway.yaml', `listen: {tls: {cert_file: ${cert}, key_file: ${key}}}`),
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    UPSTREAM_URL: 'http://127.0.0.1:2',
  };
  return { env, replace };
}

/** The certificate that a listener shows. */
function shownBy(url: string): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    request(url.replace('http:', 'https:'), { rejectUnauthorized: false, agent: false }, (response) => {
      resolve((response.socket as TLSSocket).getPeerCertificate());
      response.destroy();
    })
      .on('error', reject)
      .end();
  });
}
