// class: built
/** The example of docs/sdk.md runs as it stands there. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { startReplicas } from '../support/replicas.ts';

const page = readFileSync(new URL('../../docs/sdk.md', import.meta.url), 'utf8');

t.test('the example of the TypeScript client works', async (t) => {
  const [, source = ''] = /^```js\n([^]*?)^```$/m.exec(page) ?? [];
  // In a folder of the project, where the package is found by its name.
  const folder = t.testdir({ 'example.mjs': source });
  const replicas = await startReplicas(t);
  const { key } = await replicas.parent(['sub_accounts:read', 'sub_accounts:write']);
  const run = async (): Promise<string[]> => {
    const env = { PATH: process.env['PATH'] ?? '', GATEWAY_URL: replicas.origin, API_KEY: key };
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'example.mjs')], { env });
    return stdout.trim().split('\n');
  };
  const printed = await run();
  const [, id] = /^(\S+) Ada Logistics$/.exec(printed[0] ?? '') ?? [];
  t.equal(printed[1], '200');
  t.equal(printed.at(-1), `taken by ${id}`);
  t.equal((await run())[0], `${id} Ada Logistics`, 'as often as one likes');
  t.equal(replicas.last().values('x-service-resolved-tenant')[0], id);
});
