/** Data directories of the embedded store for tests. */
import { cp, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../../src/adapters/embedded/store.ts';
import type { Scope } from './servers.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A data directory whose database is made and empty, removed with the test. Making one takes seconds of processor time,
 * so it is done once and kept in `.cache/`; every test gets a copy.
 */
export async function madeDataDir(t: Scope): Promise<string> {
  const template = join(root, '.cache/test-embedded', await pgliteVersion());
  if (!(await exists(template))) await make(template);
  const dataDir = await mkdtemp(join(tmpdir(), 'tenancy-gateway-test-embedded-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  await cp(template, dataDir, { recursive: true });
  return dataDir;
}

async function make(template: string): Promise<void> {
  const draft = `${template}-${process.pid}`;
  await mkdir(draft, { recursive: true });
  const store = await openEmbedded(draft);
  await store.close();
  // Another process may have been quicker; then its template is as good.
  await rename(draft, template).catch(() => rm(draft, { recursive: true }));
}

/** The files of another version may be of another format. */
async function pgliteVersion(): Promise<string> {
  const text = await readFile(join(root, 'node_modules/@electric-sql/pglite/package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
