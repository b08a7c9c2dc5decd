import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { DataDirInUse, lockDataDir } from '../../../src/adapters/embedded/data-dir-lock.ts';
import { openEmbedded } from '../../../src/adapters/embedded/store.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { createSub, problemCode } from '../../support/store.ts';

const register = new URL('../../../scripts/typescript/register.mjs', import.meta.url).href;
const writer = fileURLToPath(new URL('../../support/embedded-writer.ts', import.meta.url));

t.test('a killed process loses nothing it has said, and leaves the directory free', async (t) => {
  const dataDir = join(t.testdir(), 'data');
  const child = spawn(process.execPath, ['--import', register, writer, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  t.teardown(() => child.kill('SIGKILL'));
  const said: AccountId[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line as AccountId);
    if (said.length === 20) {
      await t.rejects(
        openEmbedded(dataDir),
        DataDirInUse,
        'while it lives, no other process gets the directory',
      );
      await t.rejects(openEmbedded(dataDir), new RegExp(dataDir), 'and is told which one');
    }
    if (said.length === 60) child.kill('SIGKILL');
  }
  if (child.signalCode === null) await once(child, 'exit');

  const store = await openEmbedded(dataDir);
  t.teardown(() => store.close());
  t.equal(
    await problemCode(store.tenants.listParents({}, { limit: 1 })),
    'unavailable',
    'until it was opened, nothing of it is there',
  );
  await store.ping();
  const [parent, ...subs] = said;
  if (!parent) throw new Error('it said nothing');
  const found = await store.tenants.listSubAccounts(parent, {}, { limit: 1_000 });
  const ids = new Set(found.rows.map(({ id }) => id));
  t.same(
    subs.filter((id) => !ids.has(id)),
    [],
    `${subs.length} said`,
  );
  t.equal((await store.tenants.getParent(parent))?.activeSubAccounts, ids.size);

  await t.test('its files are for its user alone', (t) => {
    t.equal(statSync(dataDir).mode & 0o077, 0);
    t.equal(statSync(join(dataDir, 'pglite')).mode & 0o077, 0);
    t.end();
  });

  await t.test('closed, it can be opened again', async (t) => {
    await store.close();
    t.same(readdirSync(dataDir), ['pglite']);
    const again = await openEmbedded(dataDir);
    await again.ping();
    await createSub(again.tenants, parent);
    t.equal((await again.tenants.getParent(parent))?.activeSubAccounts, ids.size + 1);
    await again.close();
  });
});

t.test('a directory whose database cannot be opened is said so, and let go', async (t) => {
  const dataDir = t.testdir({ pglite: { PG_VERSION: '9\n' } });
  const store = await openEmbedded(dataDir);
  await t.rejects(store.migrate(), new RegExp(join(dataDir, 'pglite')));
  await store.close();
  await (await lockDataDir(dataDir)).release();
});

t.test('a database is made by a process of its own, and is there whole or not at all', async (t) => {
  const dataDir = join(t.testdir(), 'data');
  const drafts = (): string[] => readdirSync(dataDir).filter((name) => name.startsWith('pglite.new-'));
  const killed = spawn(process.execPath, ['--import', register, writer, dataDir], {
    stdio: 'ignore',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  t.teardown(() => killed.kill('SIGKILL'));
  await eventually(
    () => existsSync(dataDir) && drafts().some((name) => readdirSync(join(dataDir, name)).length > 0),
  );
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const [left] = drafts();

  const store = await openEmbedded(dataDir);
  t.teardown(() => store.close());
  const opening = store.migrate();
  opening.catch(() => undefined);
  await eventually(() =>
    drafts().some((name) => name !== left && readdirSync(join(dataDir, name)).length > 0),
  );
  await store.close();
  await t.rejects(opening);
  t.same(readdirSync(join(dataDir, 'pglite')), [], 'what was not finished has not got its name');
  t.same(
    drafts().filter((name) => name !== left),
    [],
    'and was removed',
  );
  // The process that was making the first one notices that its own is gone, and ends.
  await eventually(async () => {
    const again = await openEmbedded(dataDir);
    const cut = again.migrate();
    cut.catch(() => undefined);
    await eventually(() => drafts().some((name) => name !== left));
    await again.close();
    return drafts().length === 0;
  });
});

t.test('of many that want a directory exactly one gets it, after a kill too', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lock-'));
  t.teardown(() => rmSync(dataDir, { recursive: true }));
  // What killed processes leave: sockets without a listener. Each is removed by the next process that asks.
  for (const name of ['lock-00000000-0000', 'lock-ffffffff-ffff']) await leaveSocket(join(dataDir, name));
  const tries = await Promise.allSettled(Array.from({ length: 10 }, () => lockDataDir(dataDir)));
  const locks = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const rejections = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  t.equal(locks.length, 1);
  t.ok(rejections.every((reason) => reason instanceof DataDirInUse));
  await locks[0]?.release();
  t.same(readdirSync(dataDir), []);
});

/** Leaves a socket as a killed process does. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.tmp`);
  await once(server, 'listening');
  renameSync(`${path}.tmp`, path);
  server.close();
  await once(server, 'close');
}

t.test('a process that is stopped keeps its directory', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lock-'));
  t.teardown(() => rmSync(dataDir, { recursive: true }));
  // Connections are accepted by the kernel, and nothing replies.
  const stopped = createServer(() => undefined).listen(join(dataDir, 'lock-ffffffff-ffff'));
  t.teardown(() => stopped.close());
  await once(stopped, 'listening');
  await t.rejects(lockDataDir(dataDir), DataDirInUse);
});

t.test('a directory with a long name can be locked too, and leaves nothing elsewhere', async (t) => {
  const dataDir = join(t.testdir(), 'd'.repeat(120));
  mkdirSync(dataDir);
  const [before, elsewhere] = [process.env['TMPDIR'], mkdtempSync(join(tmpdir(), 'lock-'))];
  process.env['TMPDIR'] = elsewhere;
  t.teardown(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(elsewhere, { recursive: true });
  });
  const lock = await lockDataDir(dataDir);
  t.same(readdirSync(elsewhere), []);
  await t.rejects(lockDataDir(dataDir), DataDirInUse);
  await lock.release();
  t.same(readdirSync(dataDir), []);
});
