// class: pure
/** Text that customers chose, in the output of commands. */
import { Readable } from 'node:stream';
import { Command } from 'commander';
import t from 'tap';
import { Failure } from '../../src/cli/failure.ts';
import type { OperatorApi } from '../../src/cli/operator-api.ts';
import { standardOutput } from '../../src/cli/output.ts';
import { addCommands } from '../../src/cli/run.ts';
import { Kept, words } from '../support/command-line.ts';

/** Sets the title of a terminal, deletes, colours, and turns the direction of text. */
const hostile = 'A\u001b]0;x\u0007\u007f\u009b31m\u202eB\u2066';
const escaped = String.raw`A\u001b]0;x\u0007\u007f\u009b31m\u202eB\u2066`;
const obeyed = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;

const id = '0197f8a6-6d2c-7f6b-8a57-2a3b4c5d6e7f';
const at = '2026-01-31T12:00:00.000Z';
const limits = { requests_per_second: null, burst: null, requests_per_minute: null, requests_per_day: null };
const named = { id, name: hostile, external_id: hostile, status: 'active', created_at: at };
const account = {
  ...named,
  metadata: { [hostile]: hostile },
  plan: null,
  active_sub_accounts: 1,
  limits: { ...limits, requests_per_month: null, units_per_month: null },
  effective_limits: { ...limits, requests_per_month: null, units_per_month: null },
  warnings: [{ detail: hostile }],
};
const key = {
  ...{ ...account, scopes: [], prefix: 'tgw_x', last4: 'last', account: named, parent: named },
  ...{ last_used_at: null, expires_at: null, revoked_at: null, rotated_from: null },
  ...{ api_key: 'tgw_1', client_secret: 'tgs_1' },
};
const event = {
  ...{ id, type: 'account.updated', created_at: at, account_id: id, sub_account_id: null },
  actor: { kind: 'portal', key_id: null, name: null, user: hostile },
  data: { object: { name: hostile, metadata: account.metadata }, previous: { name: `${hostile}!` } },
};
const page = (row: object): object => ({ data: [row], has_more: false, next_cursor: null });
const explanation = {
  ...{ allowed: true, acts_as: id, reason: 'x', because: hostile, status: null, facts: null, limits: [] },
  request: { method: 'GET', path: `/${hostile}`, route: '/' },
  caller: { kind: 'parent', account_id: id, parent_id: null, scopes: [] },
  ended_by: { event_id: id, type: 'x', at, by: 'api_key', name: hostile },
};
const usage = { ...page({ account_id: id, name: hostile, period_start: at }), from: at, to: at, silent: [] };

/** Returns the output of a command whose calls get `answers`, the first one whose pattern fits the path. */
async function outputOf(
  json: boolean,
  answers: readonly (readonly [RegExp, object])[],
  line: string,
): Promise<string> {
  const call = (method: string, path: string): Promise<never> =>
    Promise.resolve(answers.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1] as never);
  const change = async (method: string, path: string) => ({
    value: await call(method, path),
    enforced: null,
  });
  const program = new Command('tenancy-gateway').exitOverride();
  const kept = new Kept();
  const streams = { stdin: Readable.from([]), stdout: kept, stderr: kept };
  const output = standardOutput(streams, json);
  addCommands(program, {
    env: {},
    ...streams,
    api: () => ({ call, change }) as unknown as OperatorApi,
    target: () => {
      throw new Error('no target');
    },
    output: () => output,
  });
  await program.parseAsync(words(line), { from: 'user' }).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    output.failure(error);
  });
  return kept.text;
}

const commands: readonly (readonly [string, ...(readonly [RegExp, object])[]])[] = [
  ['accounts list', [/^GET/, page(account)]],
  [`accounts show ${id}`, [/^GET/, account]],
  [`accounts delete ${id}`, [/^GET/, account]],
  [`sub-accounts list ${id}`, [/sub-accounts/, page(account)], [/^GET/, account]],
  [`sub-accounts create ${id} Ada`, [/^POST/, account], [/^GET/, account]],
  [`keys list ${id}`, [/api-keys/, page(key)], [/^GET/, account]],
  ['keys find --last4 last', [/^GET/, page(key)]],
  [`keys show ${id}`, [/^GET/, key]],
  [`keys update ${id} --name x`, [/^PATCH/, key]],
  [`keys rotate ${id} --expires-in 0`, [/^POST/, key]],
  [`keys revoke ${id}`, [/^POST/, key]],
  ['events list', [/^GET/, page(event)]],
  [`events show ${id}`, [/^GET/, event]],
  [`explain --key-id ${id}`, [/explain/, explanation], [/^GET/, account]],
  ['usage', [/^GET/, usage]],
  [`accounts show ext:${hostile}`, [/^GET/, { data: [] }]],
];

t.test('no command prints control characters or bidi controls that a customer chose', async (t) => {
  for (const [line, ...answers] of commands) {
    const text = await outputOf(false, answers, line);
    t.notMatch(text, obeyed, line);
    // A list of events shortens names.
    t.match(text, line === 'events list' ? 'u001b' : escaped, line);
  }
});

t.test('--json is JSON with the same values, without characters that a terminal obeys', async (t) => {
  // The question of a deletion is a sentence, also in JSON.
  for (const [line, ...answers] of commands.filter(([each]) => !each.includes(' delete '))) {
    const text = await outputOf(true, answers, line);
    t.notMatch(text, obeyed, line);
    t.match(JSON.stringify(JSON.parse(text)), JSON.stringify(hostile).slice(1, -1), line);
  }
});
