/** What clients of the matrix meet: two gateway processes over one upstream, one in the clear and one with TLS. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operatorToken } from '../../support/apis.ts';
import { certificate } from '../../support/config-certificates.ts';
import { httpClient } from '../../support/http-client.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
import { parentOf } from '../../support/reload.ts';
import type { Scope } from '../../support/servers.ts';
import { upstreamClient } from '../../support/upstream-client-option.ts';
import { startClientUpstream, type ClientUpstream } from './upstream.ts';

/** A gateway, a parent of its own with a key, and a sub-account that the parent calls `ada`. */
export interface Origin {
  readonly transport: 'http' | 'https';
  readonly port: number;
  readonly parentId: string;
  readonly key: string;
  readonly subAccountId: string;
}

export interface World {
  readonly origins: readonly Origin[];
  readonly upstream: ClientUpstream;
  /** Variables by which curl, Python, Go and Node learn to trust the gateway's certificate. */
  readonly trust: Readonly<Record<string, string>>;
  /** The same for Java, as flags. */
  readonly javaTrust: readonly string[];
}

const settings = `route_defaults:\n  client: ${upstreamClient}\n`;

export async function startWorld(t: Scope): Promise<World> {
  const folder = tempFolder(t);
  const upstream = await startClientUpstream(t);
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, `${certificate.a.cert}\n`);
  writeFileSync(keyFile, `${certificate.a.key}\n`);
  const [plain, tls] = [join(folder, 'plain.yaml'), join(folder, 'tls.yaml')];
  writeFileSync(plain, settings);
  writeFileSync(tls, `${settings}listen:\n  tls: { cert_file: ${certFile}, key_file: ${keyFile} }\n`);
  const origins = await Promise.all([
    startOrigin(t, 'http', { DATA_DIR: join(folder, 'http'), UPSTREAM_URL: upstream.url, CONFIG: plain }),
    startOrigin(t, 'https', { DATA_DIR: join(folder, 'https'), UPSTREAM_URL: upstream.url, CONFIG: tls }),
  ]);
  return {
    origins,
    upstream,
    trust: {
      SSL_CERT_FILE: certFile,
      REQUESTS_CA_BUNDLE: certFile,
      CURL_CA_BUNDLE: certFile,
      NODE_EXTRA_CA_CERTS: certFile,
    },
    javaTrust: javaTrust(folder, certFile),
  };
}

async function startOrigin(
  t: Scope,
  transport: Origin['transport'],
  env: Readonly<Record<string, string>>,
): Promise<Origin> {
  const { url, internalUrl } = await startProcess(t, {
    ...env,
    ADMIN_TOKEN: operatorToken,
    LOG_LEVEL: 'warn',
  });
  await becomes(internalUrl, 200);
  // All of it at the internal port: the public one may speak TLS.
  const { id: parentId, key } = await parentOf(t, url, internalUrl);
  const path = `/admin/v1/accounts/${parentId}/sub-accounts`;
  const sub = { key: operatorToken, body: { name: 'Ada', external_id: 'ada' } };
  const { body } = await httpClient(t, internalUrl)('POST', path, sub);
  return { transport, port: Number(new URL(url).port), parentId, key, subAccountId: String(body['id']) };
}

/** Java wants a key store in place of a variable; where there is no Java there is none. */
function javaTrust(folder: string, certFile: string): string[] {
  const store = join(folder, 'trust.p12');
  const args = ['-importcert', '-noprompt', '-alias', 'gateway', '-file', certFile, '-keystore', store];
  try {
    execFileSync('keytool', [...args, '-storetype', 'PKCS12', '-storepass', 'changeit'], { stdio: 'ignore' });
  } catch {
    return [];
  }
  const properties = { trustStore: store, trustStorePassword: 'changeit', trustStoreType: 'PKCS12' };
  return Object.entries(properties).map(([name, value]) => `-Djavax.net.ssl.${name}=${value}`);
}
