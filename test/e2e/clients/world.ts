/** What clients of the matrix meet: two gateway processes over one upstream, one in the clear and one with TLS. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { certificate } from '../../support/config-certificates.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
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
const adminToken = 'clients-0123456789abcdef0123456789abcdef';

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
  const { url, internalUrl } = await startProcess(t, { ...env, ADMIN_TOKEN: adminToken, LOG_LEVEL: 'warn' });
  await becomes(internalUrl, 200);
  const accounts = `${internalUrl}/admin/v1/accounts`;
  const operator = `Bearer ${adminToken}`;
  const parent = await post(accounts, operator, { name: 'Acme Freight' });
  const { api_key: key = '' } = await post(`${accounts}/${parent['id']}/api-keys`, operator, {
    name: 'matrix',
    scopes: ['sub_accounts:read', 'sub_accounts:write'],
  });
  const publicUrl = url.replace('http:', `${transport}:`);
  const subAccount = await post(`${publicUrl}/v1/sub-accounts`, `Bearer ${key}`, {
    name: 'Ada',
    external_id: 'ada',
  });
  const { port } = new URL(url);
  return {
    transport,
    port: Number(port),
    parentId: parent['id'] ?? '',
    key,
    subAccountId: subAccount['id'] ?? '',
  };
}

/** Trusts the gateway's certificate, as the clients do. */
const dispatcher = new Agent({ connect: { ca: certificate.a.cert } });

async function post(url: string, authorization: string, body: object): Promise<Record<string, string>> {
  const response = await request(url, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    dispatcher,
  });
  const text = await response.body.text();
  if (response.statusCode !== 201) throw new Error(`${url}: ${response.statusCode} ${text}`);
  return JSON.parse(text) as Record<string, string>;
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
