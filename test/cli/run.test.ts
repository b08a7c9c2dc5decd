// class: pure
/** Arguments of the command line. */
import t from 'tap';
import { commandLine, commandLineAtTerminal } from '../support/command-line.ts';

const key = `tgw_${'x'.repeat(39)}`;

t.test(
  'no argument carries a key or a client secret, alone or behind a `=`, whatever its prefix',
  async (t) => {
    const runAway = (...args: readonly string[]) =>
      commandLine({ ADMIN_TOKEN: 'x'.repeat(32) }, '--url', 'http://127.0.0.1:1', ...args);
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
      const { code, stderr: errors } = await runAway(...args);
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
    for (const args of allowed) t.equal((await runAway(...args)).code, 69, args.join(' '));
  },
);

t.test('colours are for terminals', async (t) => {
  const args = ['--url', 'http://127.0.0.1:1', 'whoami'];
  const env = { ADMIN_TOKEN: 'x'.repeat(32) };
  t.match((await commandLineAtTerminal('', env, ...args)).stderr, '\u001b[31merror:');
  t.match((await commandLine(env, ...args)).stderr, /^error:/);
});
