// class: pure, alone
/** Arguments of the command line. */
import t, { type Test } from 'tap';
import { run } from '../../src/cli/run.ts';

const key = `tgw_${'x'.repeat(39)}`;

/** Runs a command line that reaches no gateway. Returns its exit code and its errors. */
async function runAway(t: Test, ...args: readonly string[]): Promise<readonly [number, string]> {
  const errors = t.capture(process.stderr, 'write', () => true);
  const code = await run(['--url', 'http://127.0.0.1:1', ...args]);
  return [
    code,
    errors()
      .map(({ args: [text] }) => String(text))
      .join(''),
  ];
}

t.test(
  'no argument carries a key or a client secret, alone or behind a `=`, whatever its prefix',
  async (t) => {
    t.intercept(process, 'env', { value: { ...process.env, ADMIN_TOKEN: 'x'.repeat(32) } });
    const refused = [
      ['keys', 'show', key],
      ['keys', 'show', `tgs_${'x'.repeat(39)}`],
      ['keys', 'show', `acme_live_${'x'.repeat(33)}`],
      ['keys', 'find', `--account=${key}`],
      ['keys', 'find', `--account=acme_${'x'.repeat(39)}`],
      ['accounts', 'list', '--name-start', `acme_${'x'.repeat(39)}`],
      ['accounts', 'create', 'Ada', '--metadata', `key=${key}`],
      ['accounts', 'create', 'Ada', `--metadata=key=${key}`],
    ];
    for (const args of refused) {
      const [code, errors] = await runAway(t, ...args);
      t.equal(code, 64, args.join(' '));
      t.match(errors, 'Shells keep what is typed', args.join(' '));
      t.notMatch(errors, 'xxxx', 'the secret is not repeated');
    }
    const allowed = [
      ['keys', 'find', '--prefix', key],
      ['keys', 'find', `--prefix=${key}`],
      ['accounts', 'show', `ext:cus_${'x'.repeat(24)}`],
      ['accounts', 'list', '--name-start=tgw_42'],
      ['keys', 'show', '0197f8a6-6d2c-7f6b-8a57-2a3b4c5d6e7f'],
    ];
    for (const args of allowed) t.equal((await runAway(t, ...args))[0], 69, args.join(' '));
  },
);
