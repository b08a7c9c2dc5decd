/** Programs that look at OpenAPI documents, as scripts/ci-tools.sh brings them. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Where a tool is; `undefined` where it was not brought. */
export function openApiTool(name: 'redocly' | 'spectral' | 'oasdiff' | 'schemathesis'): string | undefined {
  return [
    `.cache/tools/openapi/node_modules/.bin/${name}`,
    `.cache/tools/schemathesis/bin/${name}`,
    `.cache/tools/${name}`,
  ]
    .map((file) => root + file)
    .find((file) => existsSync(file));
}

/** For `{ skip }` of a test: false where the tool is here. */
export function without(name: Parameters<typeof openApiTool>[0]): string | false {
  return (
    openApiTool(name) === undefined &&
    `NO ${name} ON THIS MACHINE: the OpenAPI documents were not tried with it. scripts/ci-tools.sh brings it`
  );
}

/** Runs a tool in the project to its end. */
export function runTool(
  name: Parameters<typeof openApiTool>[0],
  args: readonly string[],
): { readonly status: number | null; readonly output: string } {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(openApiTool(name) ?? name, args, {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}
