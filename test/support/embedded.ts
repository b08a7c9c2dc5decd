/** Data directories of the embedded store for tests. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../../src/adapters/embedded/store.ts';
import type { Store } from '../../src/adapters/postgres/store.ts';
import type { Scope } from './servers.ts';
import { longMs } from './unhurried.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A data directory with a migrated database without accounts, removed with the test. Making one takes seconds of
 * processor time, so it is done once and kept in `.cache/`; every test gets a copy.
 */
export async function madeDataDir(t: Scope): Promise<string> {
  const template = join(root, '.cache/test-embedded', formatAndSchema());
  if (!(await exists(template))) await (making ??= make(template));
  const dataDir = await mkdtemp(join(tmpdir(), 'tenancy-gateway-test-embedded-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  await cp(template, dataDir, { recursive: true });
  return dataDir;
}

/** A migrated embedded store of the test's own. */
export async function embeddedStore(t: Scope): Promise<Store> {
  const store = await openEmbedded(await madeDataDir(t), undefined, longMs);
  t.teardown(() => store.close());
  await store.migrate();
  return store;
}

/** Tests of one process may ask for it at the same time. */
let making: Promise<void> | undefined;

async function make(template: string): Promise<void> {
  const draft = `${template}-${process.pid}`;
  await mkdir(draft, { recursive: true });
  const store = await openEmbedded(draft, undefined, longMs);
  await store.migrate();
  await store.close();
  // Another process may have been quicker; then its template is as good.
  await rename(draft, template).catch(() => rm(draft, { recursive: true }));
}

/** Names what a template depends on: the version of PGlite, whose files may be of another format, and the schema. */
function formatAndSchema(): string {
  const { version } = JSON.parse(
    readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json'), 'utf8'),
  ) as { readonly version: string };
  const schema = join(root, 'src/adapters/postgres/schema');
  const hash = createHash('sha256');
  for (const name of readdirSync(schema, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.sql')) hash.update(name).update(readFileSync(join(schema, name)));
  }
  return `${version}-${hash.digest('hex').slice(0, 16)}`;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
