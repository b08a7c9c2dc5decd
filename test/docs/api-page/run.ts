/** Runs the commands of docs/api.md against a whole gateway. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { configFile } from '../../support/config-files.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess, tempFolder } from '../../support/process.ts';
import { rawSql } from '../../support/store.ts';
import type { Scope } from '../../support/servers.ts';
import { startUpstream } from '../../support/upstreams.ts';

/** What came of a command. */
export interface Outcome {
  /** As `curl -i` prints it. */
  readonly response: string;
  /** Such as `GET`. */
  readonly method: string;
  /** With its query. */
  readonly target: string;
}

/** Runs a command of the page with `variables`; fails where it does not run, or names a variable that has no value. */
export type Run = (command: string, variables: Readonly<Record<string, string>>) => Promise<Outcome>;

const token = 'a-token-of-the-operator-of-this-test';

/** A gateway before a service that has no shipments, and a shell for the commands. */
export async function startForPage(t: Scope): Promise<Run> {
  const upstream = await startUpstream(t, ({ method }, response) => {
    response.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
    response.end(method === 'POST' ? '{ "id": "shp_1" }' : '{ "shipments": [] }');
  });
  const receiver = await startUpstream(t, (_, response) => response.writeHead(204).end());
  const yaml = `limits: { max_event_loop_delay_ms: 0 }\nusage: { export: { url: '${receiver.url}' } }\n`;
  const database = await freshDatabase(t);
  const { url, internalUrl } = await startProcess(t, {
    DATABASE_URL: database,
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: token,
    PORTAL_PORT: '0',
    PORTAL_URL: 'https://keys.example.com/',
    CONFIG: configFile(t, yaml),
  });
  await becomes(internalUrl, 200);
  // A replica that was lost three days ago.
  await rawSql(t, database)`
    insert into usage_journal (id, host, through, at)
    values ('3d0f4a52-53a4-4b39-a5f7-1de7a1a4c0f9', 'gateway-1', now() - interval '3 days', now() - interval '3 days')`;

  const folder = tempFolder(t);
  // The page shows commands without what shows heads of responses, which is for readers to choose.
  const options = ['silent', 'show-error', 'include', 'write-out = "%{stderr}%{method} %{url_effective}\\n"'];
  writeFileSync(join(folder, '.curlrc'), options.join('\n'));
  const env = {
    PATH: process.env['PATH'],
    CURL_HOME: folder,
    GATEWAY_URL: url,
    INTERNAL_URL: internalUrl,
    ADMIN_TOKEN: token,
    FROM: dayBefore(2),
    TO: dayBefore(1),
  };
  return async (command, variables) => {
    const options = { env: { ...env, ...variables }, timeout: 60_000 };
    const { stdout, stderr } = await promisify(execFile)('sh', ['-euc', command], options);
    const [, method = '', address = ''] = /^([A-Z]+) (\S+)$/m.exec(stderr) ?? [];
    const { pathname, search } = new URL(address);
    return { response: stdout, method, target: pathname + search };
  };
}

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}
