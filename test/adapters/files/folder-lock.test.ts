// class: app, alone
/** The lock of a folder, between processes and after kills. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { FolderInUse, lockFolder } from '../../../src/adapters/files/folder-lock.ts';
import { tempFolder } from '../../support/process.ts';

t.test('of many that want a folder exactly one gets it, after a kill too', async (t) => {
  const folder = tempFolder(t);
  // What killed processes leave: sockets without a listener. Each is removed by the next process that asks.
  for (const name of ['lock-00000000-0000', 'lock-ffffffff-ffff']) await leaveSocket(join(folder, name));
  const tries = await Promise.allSettled(Array.from({ length: 10 }, () => lockFolder(folder)));
  const locks = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const rejections = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  t.equal(locks.length, 1);
  t.ok(rejections.every((reason) => reason instanceof FolderInUse));
  await locks[0]?.release();
  t.same(readdirSync(folder), []);
});

/** Leaves a socket as a killed process does. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.tmp`);
  await once(server, 'listening');
  renameSync(`${path}.tmp`, path);
  server.close();
  await once(server, 'close');
}

t.test('a process that is stopped keeps its folder', async (t) => {
  const folder = tempFolder(t);
  // Connections are accepted by the kernel, and nothing replies.
  const stopped = createServer(() => undefined).listen(join(folder, 'lock-ffffffff-ffff'));
  t.teardown(() => stopped.close());
  await once(stopped, 'listening');
  await t.rejects(lockFolder(folder), FolderInUse);
});

t.test('a folder with a long name can be locked where no other folder can be written to', async (t) => {
  const folder = join(t.testdir(), 'd'.repeat(120));
  mkdirSync(folder);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = '/proc/there-is-no-such-folder';
  t.teardown(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
  const lock = await lockFolder(folder);
  t.equal(readdirSync(folder).length, 1);
  await t.rejects(lockFolder(folder), FolderInUse);
  await lock.release();
  t.same(readdirSync(folder), []);
  await (await lockFolder(folder)).release();
});

t.test('a worker of a cluster holds a folder with a long name for as long as it lives', async (t) => {
  const folder = join(t.testdir(), 'd'.repeat(120));
  mkdirSync(folder);
  const script = fileURLToPath(new URL('lock-in-worker.ts', import.meta.url));
  const primary = spawn(process.execPath, [...process.execArgv, script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => primary.kill('SIGKILL'));
  const said = createInterface(primary.stdout)[Symbol.asyncIterator]();
  const worker = Number((await said.next()).value);
  await t.rejects(lockFolder(folder), FolderInUse);
  process.kill(worker, 'SIGKILL');
  t.equal((await said.next()).value, 'the worker is gone');
  await (await lockFolder(folder)).release();
});

t.test('a process that runs out of descriptors takes no lock of a living one', async (t) => {
  const folder = tempFolder(t);
  const lock = await lockFolder(folder);
  const [living] = readdirSync(folder);
  const script = fileURLToPath(new URL('lock-without-descriptors.ts', import.meta.url));
  const command = [process.execPath, ...process.execArgv, script, folder];
  const child = spawn('sh', ['-c', 'ulimit -n 128; exec "$@"', 'sh', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const seen = new Set((await text(child.stdout)).trim().split('\n'));
  t.ok(seen.has('EMFILE'), 'some tries found no descriptor');
  t.ok(seen.has('FolderInUse'), 'and some reached the living process');
  t.notOk(seen.has('taken'));
  t.ok(readdirSync(folder).includes(living ?? ''), 'its socket is there');
  await lock.release();
});
