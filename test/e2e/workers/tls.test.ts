// class: real
/** TLS with several processes that share the public listener. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { certificate } from '../../support/config-certificates.ts';
import { configFile } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/process.ts';
import { tlsClient } from '../../support/raw-client.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { onePerWorker, send, servedBy, startWorkers } from '../../support/workers.ts';

t.test(
  'SIGHUP: all workers show a renewed certificate, or none of them one that cannot be used',
  async (t) => {
    const { gateway, renew } = await startTls(t, (await startUpstream(t)).url);
    const { program, port, key } = gateway;
    const kept = await onePerWorker(t, gateway, undefined, () => tlsClient(t, port, certificate.a.cert));
    /** Asks on connections of their own, by turns; they trust the renewed certificate alone. */
    const askAll = async (path: string): Promise<void> => {
      for (let i = 0; i < 4; i++) {
        const client = await tlsClient(t, port, certificate.b.cert);
        t.equal((await send(client, key, path)).status, 200);
      }
      await eventually(() => servedBy(program, new RegExp(path)).length === 2);
    };

    renew(certificate.b);
    program.child.kill('SIGHUP');
    await program.prints(/was reloaded/);
    await askAll('/renewed');
    await t.rejects(tlsClient(t, port, certificate.a.cert), { code: /CERT|SIGNATURE/ });
    for (const client of kept)
      t.equal((await send(client, key)).status, 200, 'connections of before are served on');

    renew({ cert: certificate.a.cert, key: certificate.b.key });
    program.child.kill('SIGHUP');
    await program.prints(/not reloaded/);
    await askAll('/as-before');
    t.equal(await program.kill('SIGTERM'), 0);
  },
);

/** Two workers that serve HTTPS. `renew` replaces the files of the certificate. */
async function startTls(t: Test, upstream: string) {
  const folder = tempFolder(t);
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  const renew = (pair: { readonly cert: string; readonly key: string }): void => {
    writeFileSync(cert, pair.cert);
    writeFileSync(key, pair.key);
  };
  renew(certificate.a);
  const yaml = `upstream_url: ${upstream}\nlisten: { tls: { cert_file: ${cert}, key_file: ${key} } }`;
  return { gateway: await startWorkers(t, { CONFIG: configFile(t, yaml) }), renew };
}
