/** Built gateways: earlier releases as they were deployed, and this version with one more migration. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Scope } from '../../../support/servers.ts';

/** A release that was deployed. */
export interface Release {
  readonly version: string;
  readonly commit: string;
}

export const v010: Release = { version: '0.1.0', commit: '7220acfb520baa308cb4159e93d6f6d2a7f5e40f' };
export const v020: Release = { version: '0.2.0', commit: '6a0d640a3155f2fc5a005e9ce7659db7b3545ece' };

/** Version of {@link buildWithStep}: until its release, this version's package.json names the release before. */
const newVersion = '9.9.9';

const project = fileURLToPath(new URL('../../../../', import.meta.url));
/** In the project, so that packages are found from there. */
const cache = join(project, '.cache/upgrade');

/** `dist` of a release, built when it is first asked for; the reason where it cannot be had. */
export function buildOf({
  version,
  commit,
}: Release): { readonly dist: string } | { readonly missing: string } {
  const folder = join(cache, commit.slice(0, 7));
  const dist = join(folder, 'dist');
  if (existsSync(dist)) return { dist };
  mkdirSync(cache, { recursive: true });
  const building = mkdtempSync(join(cache, 'building-'));
  try {
    const archive = join(building, 'sources.tar');
    execFileSync('git', ['archive', `--output=${archive}`, commit], { cwd: project, stdio: 'pipe' });
    execFileSync('tar', ['-xf', archive], { cwd: building, stdio: 'pipe' });
    rmSync(archive);
    // It needs no package that this version does not have.
    symlinkSync(join(project, 'node_modules'), join(building, 'node_modules'));
    const builder = pathToFileURL(join(building, 'scripts/lib/build.mjs')).href;
    const build = `await (await import(${JSON.stringify(builder)})).ensureBuilt()`;
    execFileSync(process.execPath, ['--input-type=module', '-e', build], { cwd: building, stdio: 'pipe' });
    renameSync(building, folder);
    return { dist };
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    const said = String((error as { readonly stderr?: Buffer }).stderr ?? error).trim();
    return { missing: `${version} (${commit.slice(0, 7)}) cannot be built from this clone: ${said}` };
  }
}

/**
 * This version, as {@link newVersion}, with one more step at the end of its migrations. Returns its `dist`, which goes away
 * with the test, and the number of the step.
 */
export function buildWithStep(t: Scope, text: string): { readonly dist: string; readonly step: number } {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'new-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const dist = join(folder, 'dist');
  cpSync(join(project, 'dist'), dist, { recursive: true });
  const about = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as object;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...about, version: newVersion }));
  const migrations = join(dist, 'adapters/postgres/schema/steps');
  const files = readdirSync(migrations);
  const step = files.filter((file) => file.endsWith('.sql')).length + 1;
  writeFileSync(join(migrations, `${String(step).padStart(4, '0')}_of_the_test.sql`), text);
  return { dist, step };
}
