/** The chart, rendered by real Helm. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { helm, withoutHelm } from './chart-tools.ts';
import type { Manifest } from './manifest.ts';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const chart = at('helm/tenancy-gateway');

/**
 * What manifests are rendered for, the newest version that is tested. Without it Helm takes the version it was built for,
 * which is 1.20 where `go install` built it: older than the chart takes.
 */
const kubeVersion = ['--kube-version', '1.36.0'];

/** Values, as in a values file. */
export interface Values {
  readonly [key: string]: unknown;
}

export interface Rendered {
  readonly ok: boolean;
  readonly text: string;
  /** What Helm says, for a person. */
  readonly complaint: string;
}

/** Runs `helm <args>`, `template` or `lint`, with values on standard input. */
export function runHelm(args: readonly string[], values: Values): Rendered {
  const { status, stdout, stderr } = spawnSync(helm ?? 'helm', [...args, ...kubeVersion, '--values', '-'], {
    input: JSON.stringify(values),
    encoding: 'utf8',
  });
  return { ok: status === 0, text: stdout, complaint: stderr };
}

/** The chart's manifests as text. */
export function template(values: Values): Rendered {
  return runHelm(['template', 'gw', chart, '--namespace', 'shop'], values);
}

/** The chart's manifests. Throws what Helm complains about. */
export function render(values: Values): Manifest[] {
  const { ok, text, complaint } = template(values);
  if (!ok) throw new Error(complaint);
  return readManifests(text);
}

/** A test that needs Helm; it is skipped where that is missing. */
export function chartTest(name: string, run: (t: Test) => unknown): void {
  void t.test(name, { skip: withoutHelm }, run);
}

/** Expects the chart to be refused with these values, in these words. */
export function refuses(t: Test, values: Values, words: RegExp | string): void {
  const { ok, complaint } = template(values);
  t.notOk(ok, String(words));
  t.match(complaint, words);
}

/** Expects the chart to be made with these values. */
export function accepts(t: Test, values: Values, what: string): void {
  const { ok, complaint } = template(values);
  t.ok(ok, `${what}: ${complaint}`);
}

/** Parses a file of manifests; a key given twice is an error. */
export function readManifests(text: string): Manifest[] {
  return parseAllDocuments(text, { uniqueKeys: true })
    .map((document) => {
      if (document.errors[0]) throw document.errors[0];
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);
}

/** Every values file of the repository, by its path: the chart's own cases and the examples. */
export function valuesFiles(): ReadonlyMap<string, Values> {
  const cases = readdirSync(`${chart}/ci`).map((name) => `helm/tenancy-gateway/ci/${name}`);
  const paths = [...cases, 'examples/front-gateway/values.yaml'].filter((path) => existsSync(at(path)));
  return new Map(paths.map((path) => [path, readYaml(path) as Values]));
}

/** @param path from the root of the repository */
export function readYaml(path: string): unknown {
  return parse(readFileSync(at(path), 'utf8'));
}

/** @param path from the root of the repository */
export function readText(path: string): string {
  return readFileSync(at(path), 'utf8');
}
