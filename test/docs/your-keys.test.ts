// class: built
/** The calls of docs/your-keys.md that send a key run as they stand, with the schemes that the page configures. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { configFile, goodConfig } from '../support/config-files.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('each way to send a key that the page shows is accepted', async (t) => {
  const page = readFileSync(new URL('../../docs/your-keys.md', import.meta.url), 'utf8');
  const [, section = ''] = /^## Keys in another scheme\n([^]*?)^## /m.exec(page) ?? [];
  const [, yaml = ''] = /^```yaml\n([^]*?)^```$/m.exec(section) ?? [];
  const [, calls = ''] = /^```sh\n([^]*?)^```$/m.exec(section) ?? [];
  const { schemes } = goodConfig({ CONFIG: configFile(t, yaml) }).authentication;
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url }, schemes });
  const env = {
    PATH: process.env['PATH'] ?? '',
    GATEWAY_URL: `http://127.0.0.1:${port}`,
    API_KEY: parent.key,
  };
  const commands = calls.trim().split('\n');
  t.equal(commands.length, schemes.length + 1);
  for (const command of commands)
    await promisify(execFile)('sh', ['-euc', command.replace('curl', 'curl -sS --fail-with-body')], { env });
  t.equal(upstream.received.length, commands.length);
});
