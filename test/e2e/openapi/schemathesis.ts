/** Requests made up from the OpenAPI documents, right ones, wrong ones and whole sequences: every response must be as described. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { operatorToken, startApis } from '../../support/apis.ts';
import { openApiTool, without } from '../../support/openapi-tools.ts';

const seed = process.env['SCHEMATHESIS_SEED'] ?? '1';
const skip = without('schemathesis');
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** @param usualCases made-up requests for each operation and phase, if `SCHEMATHESIS_CASES` says nothing else */
export function testDocuments(usualCases: number): void {
  const cases = process.env['SCHEMATHESIS_CASES'] ?? String(usualCases);
  t.test('parents', { skip, timeout: 3_600_000 }, async (t) => {
    const apis = await startApis(t);
    const parent = await apis.parent();
    const sub = await parent.create({ name: 'Ada', external_id: 'there-already' });
    await sub.mint();
    await holds(t, `${apis.origin}/v1/sub-accounts/openapi.json`, parent.key, cases);
  });

  t.test('operators', { skip, timeout: 3_600_000 }, async (t) => {
    const apis = await startApis(t);
    await apis.parent();
    await holds(t, `${apis.internalOrigin}/admin/v1/openapi.json`, operatorToken, cases);
  });
}

async function holds(t: Test, document: string, token: string, cases: string): Promise<void> {
  const child = spawn(
    openApiTool('schemathesis') ?? '',
    [
      '--config-file=test/e2e/openapi/schemathesis.toml',
      ...['run', document, `--url=${new URL(document).origin}`, '--checks=all', `--max-examples=${cases}`],
      ...[`--seed=${seed}`, '--phases=examples,coverage,fuzzing,stateful', '--no-color'],
    ],
    { cwd: root, env: { ...process.env, GATEWAY_TOKEN: token }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  // Each phase says so, and a file that says nothing for long is ended.
  child.stdout.on('data', (said: Buffer) => t.comment(said.toString().trimEnd()));
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = (await once(child, 'close')) as [number | null];
  const output = (await said).join('');
  t.equal(status, 0, output);
}
