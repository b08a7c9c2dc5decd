// class: built
import t from 'tap';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readText } from '../../support/helm.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes } from '../../support/process.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { filteredRunner } from './system-call-filter.ts';

const name = 'tenancy-gateway@.service';
const unit = readText(`examples/linux/${name}`);
const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
const there = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
const withoutSystemd =
  !there('systemd-analyze') && 'NO systemd-analyze ON THIS MACHINE: the unit was not checked';
const withoutCompiler = !there('cc') && 'NO C COMPILER ON THIS MACHINE: its system call filter was not tried';

t.test(
  'systemd knows every line of the unit, and finds little that it could do',
  { skip: withoutSystemd },
  async (t) => {
    const folder = t.testdir({});
    // The command is not installed here.
    const instance = `${folder}/tenancy-gateway@8080.service`;
    writeFileSync(instance, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'));
    const verified = spawnSync('systemd-analyze', ['verify', instance], { encoding: 'utf8' });
    t.equal(verified.status, 0, verified.stderr);
    t.notMatch(verified.stderr, /Unknown|Failed to parse|ignoring/i);
    // In tenths: 10 is no protection at all.
    const args = ['security', '--offline=true', '--threshold=20', '--no-pager', instance];
    const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    t.equal(status, 0, stdout.split('\n').slice(-3).join('\n'));
  },
);

t.test(
  'under its system call filter a gateway of two workers starts, serves and drains',
  { skip: withoutSystemd || withoutCompiler },
  async (t) => {
    const folder = t.testdir({});
    const filters = [...unit.matchAll(/^SystemCallFilter=(.*)$/gm)].map(([, value = '']) => value);
    const runner = filteredRunner(folder, filters);
    const held = spawnSync(runner, ['chroot', '/'], { encoding: 'utf8' });
    t.match(held.stderr, /Operation not permitted/, 'the filter is on');

    const [port, internalPort] = [await unusedPort(), await unusedPort()];
    const gateway = spawn(runner, [process.execPath, cli, 'serve'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        PORT: String(port),
        INTERNAL_PORT: String(internalPort),
        DATABASE_URL: await freshDatabase(t),
        UPSTREAM_URL: 'http://127.0.0.1:9',
        WORKERS: '2',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    t.teardown(() => gateway.kill('SIGKILL'));
    const ended = once(gateway, 'exit');
    await becomes(`http://127.0.0.1:${internalPort}`, 200);
    t.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 401);
    gateway.kill('SIGTERM');
    t.same(await ended, [0, null]);
  },
);

t.test('systemd gives the gateway longer to stop than the gateway takes', async (t) => {
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
  const drainMs = Number(/^drain_ms: (\d+)$/m.exec(readText('config/gateway.yaml'))?.[1]);
  t.ok(seconds * 1000 > drainMs);
  t.match(unit, /^RestartPreventExitStatus=78$/m, 'a faulty configuration is not started again and again');
});
