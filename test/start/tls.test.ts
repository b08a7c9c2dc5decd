// class: built
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { becomes, startProcess, tempFolder } from '../support/process.ts';

t.test('with listen.tls the public listener speaks HTTPS, and drains like any other', async (t) => {
  const folder = tempFolder(t);
  const file = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const pair = { cert: file('tls.crt', certificate.a.cert), key: file('tls.key', certificate.a.key) };
  const { program, url, internalUrl } = await startProcess(t, {
    CONFIG: file('gateway.yaml', `listen: {tls: {cert_file: ${pair.cert}, key_file: ${pair.key}}}`),
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    UPSTREAM_URL: 'http://127.0.0.1:2',
  });
  await becomes(internalUrl, 503, 'starting');
  const { status, body } = await get(`${url.replace('http:', 'https:')}/v1/x`);
  t.equal(status, 401);
  t.match(JSON.parse(body), { code: 'unauthenticated' });
  await t.rejects(fetch(url), 'plain HTTP is not understood there');
  t.equal(await program.kill('SIGTERM'), 0);
});

function get(url: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request(url, { ca: certificate.a.cert, agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    })
      .on('error', reject)
      .end();
  });
}
