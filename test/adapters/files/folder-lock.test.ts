/** The lock of a folder, between processes and after kills. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { FolderInUse, lockFolder } from '../../../src/adapters/files/folder-lock.ts';

t.test('of many that want a folder exactly one gets it, after a kill too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
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
  const folder = mkdtempSync(join(tmpdir(), 'lock-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  // Connections are accepted by the kernel, and nothing replies.
  const stopped = createServer(() => undefined).listen(join(folder, 'lock-ffffffff-ffff'));
  t.teardown(() => stopped.close());
  await once(stopped, 'listening');
  await t.rejects(lockFolder(folder), FolderInUse);
});

t.test('a folder with a long name can be locked too, and leaves nothing elsewhere', async (t) => {
  const folder = join(t.testdir(), 'd'.repeat(120));
  mkdirSync(folder);
  const [before, elsewhere] = [process.env['TMPDIR'], mkdtempSync(join(tmpdir(), 'lock-'))];
  process.env['TMPDIR'] = elsewhere;
  t.teardown(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(elsewhere, { recursive: true });
  });
  const lock = await lockFolder(folder);
  t.same(readdirSync(elsewhere), []);
  await t.rejects(lockFolder(folder), FolderInUse);
  await lock.release();
  t.same(readdirSync(folder), []);
});
