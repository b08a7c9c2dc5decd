/** Configuration files of both versions: the new one has settings that no earlier version reads. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { configFile } from '../../../support/config-files.ts';
import { eventually } from '../../../support/eventually.ts';
import { readiness, tempFolder, type GatewayProcess } from '../../../support/process.ts';
import { trustedNames } from '../../../support/header-spellings.ts';
import type { Received, Upstream } from '../../../support/upstreams.ts';
import type { Apis, Customers } from './newer-changes.ts';
import type { Build, Rollout } from './rollout.ts';

/** Readiness is lost that long before a process takes no more requests. */
const common = 'drain_delay_ms: 4000\nlimits: { max_event_loop_delay_ms: 0 }\n';

export function olderFile(t: Test): string {
  return configFile(t, common);
}

/** Every kind of setting that is new. */
export function newerYaml(t: Test, upstream: Upstream): string {
  const token = join(tempFolder(t), 'token');
  writeFileSync(token, 'a-token-of-a-viewer-in-a-file-of-its-own');
  return `${common}routes:
  - prefix: /open
    upstream: ${upstream.url}
    authentication: none
    open_per_second: 100
    pass_authorization: true
internal: { admin_tokens: { alice: { token_file: ${token}, role: viewer } } }
authentication: { schemes: [Bearer, ApiKey] }
events: { address_retention_days: 90 }
usage: { units_header: X-Units }
${portalAt(0)}`;
}

/** The portal on a port of the loopback interface; 0 takes any free one. */
export function portalAt(port: number): string {
  return `portal: { port: ${port}, url: 'http://127.0.0.1:${port}/' }\n`;
}

/** What an earlier version finds wrong in the file. */
const faults = [
  /routes\/0.*authentication|routes\[0\].*authentication/,
  /open_per_second/,
  /admin_tokens/,
  /schemes/,
  /address_retention_days/,
  /units_header/,
  /portal/,
];

/** An earlier version does not start with the file, and does not take it over: it serves on with its own. */
export async function isRefused(t: Test, rollout: Rollout, build: Build, yaml: string): Promise<void> {
  const { program } = await rollout.startOne({ ...build, config: configFile(t, yaml) });
  t.equal(await program.ended(), 78, 'an earlier version does not start with the new file');
  for (const fault of faults) t.match(program.stderr + program.stdout, fault);
}

export async function isNotTakenOver(
  t: Test,
  old: GatewayProcess,
  { config }: Build,
  yaml: string,
): Promise<void> {
  writeFileSync(config, yaml);
  old.program.child.kill('SIGHUP');
  await eventually(() => old.program.stdout.includes('the configuration was not reloaded'));
  writeFileSync(config, common);
  t.match(
    await readiness(old.internalUrl),
    { status: 200 },
    'an earlier version serves on with its own file',
  );
}

/** What a client would send to pass for a tenant. */
const forged = trustedNames.filter((name) => name.startsWith('X-Service-'));

/** The open route is open on a new replica alone, where nothing of an identity gets through. */
export async function isOpenThere(
  t: Test,
  {
    old,
    there,
    upstream,
    customers,
  }: {
    readonly old: Apis;
    readonly there: Apis;
    readonly upstream: Upstream;
    readonly customers: Customers;
  },
): Promise<void> {
  const { key } = customers.parent;
  const headers = Object.fromEntries(forged.map((name) => [name, customers.parent.id]));
  t.match(await old.call('GET', '/open/page'), { status: 401 }, 'an earlier version asks for a key');
  t.match(await old.call('GET', '/open/page', { key, headers }), { status: 200 });
  t.equal(upstream.heads, 0, 'and sends it elsewhere');
  t.match(await there.call('GET', '/open/page', { headers }), { status: 200 });
  for (const authorization of [`Bearer ${key}`, `ApiKey ${key}`, `Bearer ${customers.closed.key}`])
    t.match(await there.call('GET', '/open/page', { headers: { ...headers, authorization } }), {
      status: 200,
    });
  t.equal(upstream.received.length, 4);
  t.same(upstream.received.flatMap(identityIn), [], 'the upstream of the open route gets no identity');
}

function identityIn({ rawHeaders }: Received): readonly string[] {
  return rawHeaders.filter((name, i) => i % 2 === 0 && /^x-service-|^authorization$/i.test(name));
}
