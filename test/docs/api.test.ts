// class: built
import t from 'tap';
import { readFileSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { documentedOperations } from '../support/openapi.ts';
import { examplesOf, readResponse, textOf, valueAt, withResponses, type Example } from './api-page/page.ts';
import { startForPage, type Outcome, type Run } from './api-page/run.ts';
import { FixedValues, Kinds } from './api-page/values.ts';

/**
 * `TEST_WRITE_API_PAGE=1 npm test -- test/docs/api.test.ts` writes the responses into the page. Look at it before you
 * commit it.
 */
const write = process.env['TEST_WRITE_API_PAGE'] === '1';
const file = new URL('../../docs/api.md', import.meta.url);
const page = readFileSync(file, 'utf8');
const examples = examplesOf(page);

t.test('every command of docs/api.md runs, and every response is as the page shows it', async (t) => {
  t.equal(examples.length, page.match(/^```sh$/gm)?.length, 'a response follows every command');
  const run = await startForPage(t);
  const variables: Record<string, string> = {};
  const [shown, got, fixed] = [new Kinds(), new Kinds(), new FixedValues(Date.now())];
  const responses: string[] = [];
  const done: { readonly outcome: Outcome; readonly status: number }[] = [];
  for (const example of examples) {
    const expected = shown.of(example.response);
    const outcome = await outcomeOf(run, example, variables, (text) => got.of(text) === expected);
    const response = readResponse(outcome.response);
    const text = textOf(response);
    // What comes after it may depend on it.
    if (!write && got.of(text) !== expected)
      return void t.same(
        got.of(text).split('\n'),
        expected.split('\n'),
        `line ${example.line}: ${example.command}`,
      );
    const status = Number(response.status.split(' ')[1]);
    done.push({ outcome, status });
    const documented = fixed.of(text);
    responses.push(got.of(text) === expected ? example.response : documented);
    for (const [name, place] of example.remembers) variables[name] = valueAt(response.body, place);
  }
  if (write) writeFileSync(file, withResponses(page, responses));

  const missing = documentedOperations().filter(
    ({ method, path }) =>
      page.includes(`\n<!-- ${method} ${path} -->\n`) &&
      !done.some(
        ({ outcome, status }) =>
          status < 300 &&
          outcome.method === method &&
          patternOf(path).test(outcome.target.split('?')[0] ?? ''),
      ),
  );
  t.same(
    missing.map(({ method, path }) => `${method} ${path}`),
    [],
    'every operation with a place has an example that works',
  );
});

/** Whether a command changes nothing. A proxied request counts against limits, even if it only reads. */
function mayRepeat({ method, target }: Outcome): boolean {
  return method === 'GET' && (target.startsWith('/v1/sub-accounts') || target.startsWith('/admin/'));
}

/**
 * What came of an example. Reports come to be as the page has them some seconds after what they tell of, so questions
 * are asked until then; those that never are, are compared as they are in the end.
 */
async function outcomeOf(
  run: Run,
  { command }: Example,
  variables: Readonly<Record<string, string>>,
  isExpected: (text: string) => boolean,
): Promise<Outcome> {
  const giveUp = performance.now() + (write ? longestDelayOf(command) : 60_000);
  for (;;) {
    const outcome = await run(command, variables);
    if (!mayRepeat(outcome) || isExpected(textOf(readResponse(outcome.response)))) return outcome;
    if (performance.now() > giveUp) return outcome;
    await sleep(100);
  }
}

/** In milliseconds, where the page does not know the response yet. */
function longestDelayOf(command: string): number {
  return /usage|onboarding|api-keys|replicas/.test(command) ? 5_000 : 0;
}

/** Ids of the gateway are UUIDs; other names of the API, such as `usage`, are not. */
function patternOf(path: string): RegExp {
  return new RegExp(
    `^${path.replace('{external_id}', '[^/]+').replaceAll(/\{\w+\}/g, '[0-9a-f]{8}-[0-9a-f-]{27}')}$`,
  );
}
