/** What the chart's tests need beside npm packages, as far as it is here. `scripts/ci-tools.sh` brings it into .cache/tools. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const tools = new URL('../../.cache/tools/', import.meta.url);

/** Helm 3, to run; `undefined` where there is none. `HELM` names another one. */
export const helm = firstThatRuns([process.env['HELM'], inTools('helm'), 'helm'], ['version', '--short']);

/** Prometheus's own checker of rules, to run; `undefined` where there is none. */
export const promtool = firstThatRuns(['promtool', inTools('promtool')], ['--version']);

/** Prometheus itself, to run; `undefined` where there is none. */
export const prometheus = firstThatRuns(['prometheus', inTools('prometheus')], ['--version']);

/** For `{ skip }` of a test that needs Prometheus: false where it is here. */
export const withoutPrometheus =
  prometheus === undefined && 'the alerts were not tested by a live Prometheus: apt-get install prometheus';

/** Where the schemas of Kubernetes and two extensions are. */
export const schemaFolder = new URL('schemas/', tools);

/** Files of {@link schemaFolder}; none where they were not brought. */
export const schemaFiles: readonly string[] = existsSync(schemaFolder) ? readdirSync(schemaFolder) : [];

const missing = [
  ...(helm === undefined ? ['Helm'] : []),
  ...(schemaFiles.length === 0 ? ["Kubernetes' schemas"] : []),
  ...(promtool === undefined ? ['promtool'] : []),
];

/** The same line for whatever is missing, so that a run says it once. */
const reason =
  `the chart was not tested against ${missing.join(', ')}: run scripts/ci-tools.sh once, ` +
  'which needs Go for Helm and the schemas, and apt-get for promtool';

/** For `{ skip }` of a test that needs Helm: false where it is here. */
export const withoutHelm = helm === undefined && reason;

/** For `{ skip }` of a test that needs Kubernetes' schemas: false where they are here. */
export const withoutSchemas = schemaFiles.length === 0 && reason;

/** For `{ skip }` of a test that needs promtool: false where it is here. */
export const withoutPromtool = promtool === undefined && reason;

function firstThatRuns(
  programs: readonly (string | undefined)[],
  args: readonly string[],
): string | undefined {
  return programs.find((program) => program !== undefined && spawnSync(program, args).status === 0);
}

function inTools(name: string): string {
  return fileURLToPath(new URL(name, tools));
}
