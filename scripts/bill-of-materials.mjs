#!/usr/bin/env node
// @ts-check
/**
 * `node scripts/bill-of-materials.mjs`: the run-time dependencies as CycloneDX. `npm sbom --omit=dev` leaves out packages that
 * dependencies for development use as well (npm 10 and 11), so all are asked for, and the lock file says which of them stay.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inProject } from './lib/project.mjs';

/** @typedef {{ 'bom-ref': string, name: string, group?: string, version: string }} Component */
/** @typedef {{ components: Component[], dependencies: { ref: string, dependsOn: string[] }[], metadata: { component: Component } }} Bill */

/** @type {{ packages: Record<string, { dev?: boolean, version?: string }> }} */
const lock = JSON.parse(readFileSync(inProject('package-lock.json'), 'utf8'));
const atRunTime = new Set(
  Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`),
);

const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
// `npm sbom` takes what `overrides` has put into a bundle for a fault, so it reads a copy that bundles nothing.
const folder = mkdtempSync(join(tmpdir(), 'tgw-bill-'));
for (const file of ['package.json', 'package-lock.json']) {
  const content = JSON.parse(readFileSync(inProject(file), 'utf8'), (key, value) =>
    key === 'bundleDependencies' || key === 'inBundle' ? undefined : value,
  );
  writeFileSync(join(folder, file), JSON.stringify(content));
}
const text = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 });
rmSync(folder, { recursive: true });
/** @type {Bill} */
const bill = JSON.parse(text);
const components = bill.components.filter(({ group, name, version }) =>
  atRunTime.has(`${group ? `${group}/` : ''}${name}@${version}`),
);
const kept = new Set([bill.metadata.component, ...components].map((component) => component['bom-ref']));
const dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
process.stdout.write(`${JSON.stringify({ ...bill, components, dependencies }, null, 2)}\n`);
