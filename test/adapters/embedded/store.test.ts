// class: real
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { lockFolder } from '../../../src/adapters/files/folder-lock.ts';
import { DataDirInUse, openEmbedded } from '../../../src/adapters/embedded/store.ts';
import type { AccountId } from '../../../src/domain/ids.ts';
import { quietFigures } from '../../contract/replica-figures.ts';
import { eventually } from '../../support/eventually.ts';
import { createSub, problemCode } from '../../support/store.ts';
import { longMs } from '../../support/unhurried.ts';

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

  const store = await openEmbedded(dataDir, undefined, longMs);
  t.teardown(() => store.close());
  t.equal(
    await problemCode(store.tenants.listParents({}, { limit: 1 })),
    'unavailable',
    'until it was opened, nothing of it is there',
  );
  await store.ping();
  const [parent, ...subs] = said;
  if (!parent) throw new Error('it said nothing');
  const found = await store.tenants.listSubAccounts(parent, {}, { limit: 1_000_000 });
  const ids = new Set(found.rows.map(({ id }) => id));
  t.same(
    subs.filter((id) => !ids.has(id)),
    [],
    `${subs.length} said`,
  );
  t.equal((await store.tenants.getParent(parent))?.activeSubAccounts, ids.size);

  await t.test('tables that a crash may empty can be used after it', async (t) => {
    const tail = { id: randomUUID(), filter: {} };
    t.equal(await store.tails.open(tail, 8), true);
    t.same(await store.figures.report('new', quietFigures, true), [tail]);
    await store.tails.close(tail.id);
  });

  await t.test('its files are for its user alone', (t) => {
    t.equal(statSync(dataDir).mode & 0o077, 0);
    t.equal(statSync(join(dataDir, 'pglite')).mode & 0o077, 0);
    t.end();
  });

  await t.test('closed, it can be opened again', async (t) => {
    await store.close();
    t.same(readdirSync(dataDir), ['pglite']);
    const again = await openEmbedded(dataDir, undefined, longMs);
    await again.ping();
    await createSub(again.tenants, parent);
    t.equal((await again.tenants.getParent(parent))?.activeSubAccounts, ids.size + 1);
    await again.close();
  });
});

t.test('a directory whose database cannot be opened is said so, and let go', async (t) => {
  const dataDir = t.testdir({ pglite: { PG_VERSION: '9\n' } });
  const store = await openEmbedded(dataDir, undefined, longMs);
  await t.rejects(store.migrate(), new RegExp(join(dataDir, 'pglite')));
  await store.close();
  await (await lockFolder(dataDir)).release();
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

  const store = await openEmbedded(dataDir, undefined, longMs);
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
    const again = await openEmbedded(dataDir, undefined, longMs);
    const cut = again.migrate();
    cut.catch(() => undefined);
    await eventually(() => drafts().some((name) => name !== left));
    await again.close();
    return drafts().length === 0;
  });
});
