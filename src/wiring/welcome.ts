import { randomBytes } from 'node:crypto';
import { styleText } from 'node:util';
import {
  clientSecretPrefix,
  digestSecret,
  formatSecret,
  keyHints,
  secretRandomBytes,
} from '../domain/api-key.ts';
import type { Config } from '../config.ts';
import { uuidV7, type AccountId, type KeyId } from '../domain/ids.ts';
import { managementScopes } from '../domain/scope.ts';
import { systemClock } from '../ports/clock.ts';
import type { TenantStore } from '../ports/tenant-store.ts';
import { operatorTokenFile } from './operator-token.ts';
import type { RunningGateway } from './start.ts';

/**
 * Returns a greeting for anyone who starts the embedded store. If there is no parent account yet, the function creates
 * one with a key. The greeting then shows the key, and three calls to paste. The key is never shown again.
 */
export async function welcome({
  config,
  hasEcho,
  store,
  publicAddress,
  internalAddress,
  portalAddress,
}: RunningGateway): Promise<string> {
  if (config.store.kind !== 'embedded') return '';
  const { dataDir } = config.store;
  const url = originOf(config.listen.tls === null ? 'http' : 'https', publicAddress);
  const lines = [
    '',
    bold('Tenancy Gateway is running.'),
    '',
    `  API        ${url}`,
    `  internal   ${originOf('http', internalAddress)}   health, metrics, operator API`,
    `  console    ${originOf('http', internalAddress)}/console/`,
    `  data       ${dataDir}   (operator token: ${operatorTokenFile(dataDir)})`,
  ];
  if (portalAddress !== null)
    lines.push(
      `  portal     ${originOf('http', portalAddress)}   browsers find it at ${config.portal?.url ?? ''}`,
    );
  if (hasEcho)
    lines.push(`  upstream   the built-in echo: it answers with the request that your service would get`);
  else for (const { prefix, upstream } of config.routes) lines.push(`  upstream   ${prefix} → ${upstream}`);
  const first = (await store.tenants.listParents({}, { limit: 1 })).rows.length === 0;
  lines.push(
    '',
    ...(first ? firstSteps(url, await firstKey(store.tenants, config), config.headers.acting) : nextSteps),
  );
  return `${lines.join('\n')}\n\n`;
}

async function firstKey(tenants: TenantStore, { keys, limits }: Config): Promise<string> {
  const nowMs = systemClock.wallMs();
  const id = uuidV7(nowMs, randomBytes(10)) as AccountId;
  await tenants.createParent({ id, name: 'My company' });
  const key = formatSecret(keys.prefix, randomBytes(secretRandomBytes));
  const clientSecret = formatSecret(clientSecretPrefix, randomBytes(secretRandomBytes));
  const draft = {
    id: uuidV7(nowMs, randomBytes(10)) as KeyId,
    name: 'first key',
    scopes: [managementScopes.read, managementScopes.write],
    digest: digestSecret(key),
    clientSecretDigest: digestSecret(clientSecret),
    ...keyHints(key),
    expiresAt: null,
  };
  await tenants.createKey(id, draft, limits.keysPerAccount);
  return key;
}

function firstSteps(url: string, key: string, actingHeader: string): string[] {
  const auth = `-H 'Authorization: Bearer ${key}'`;
  const json = `-H 'Content-Type: application/json'`;
  return [
    bold('Your API key') + ` (account "My company"; shown this once):`,
    '',
    `  ${styleText('green', key)}`,
    '',
    bold('Three calls to paste:'),
    '',
    dim('1. Create a sub-account for one of your customers, under the name you have for it:'),
    `curl -sS -w '\\n' -X POST ${url}/v1/sub-accounts ${auth} ${json} -d '{"name":"Ada Logistics","external_id":"ada"}'`,
    '',
    dim('2. A write must now name its tenant. This one does not, and the response explains how:'),
    `curl -sS -w '\\n' -X POST ${url}/v1/shipments ${auth} ${json} -d '{"carrier":"MAEU"}'`,
    '',
    dim('3. Act as that customer. The upstream learns which tenant to work on, and can trust it:'),
    `curl -sS -w '\\n' -X POST ${url}/v1/shipments ${auth} ${json} -H '${actingHeader}: ext:ada' -d '{"carrier":"MAEU"}'`,
  ];
}

const nextSteps = [
  'A new key for an account:   node dist/cli.js accounts list',
  '                            node dist/cli.js keys create <account-id> --name <name>',
];

/** Returns the address at which this machine reaches a listener. */
export function originOf(
  scheme: string,
  { host, port }: { readonly host: string; readonly port: number },
): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function bold(text: string): string {
  return styleText('bold', text);
}

function dim(text: string): string {
  return styleText('dim', text);
}
