// class: built
/** An operator token that can be guessed is said to be one, and works. */
import t from 'tap';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, startProcess } from '../support/process.ts';
import { migrated } from '../support/store.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('a short ADMIN_TOKEN is warned of once, at start, without being shown', async (t) => {
  const env = { DATABASE_URL: await freshDatabase(t, migrated), UPSTREAM_URL: (await startUpstream(t)).url };
  for (const [token, warnings] of [
    ['x'.repeat(31), 1],
    ['x'.repeat(32), 0],
  ] as const) {
    const { program, internalUrl } = await startProcess(t, { ...env, ADMIN_TOKEN: token });
    await becomes(internalUrl, 200);
    const response = await fetch(`${internalUrl}/admin/v1/accounts`, {
      headers: { authorization: `Bearer ${token}` },
    });
    t.equal(response.status, 200);
    const said = program.log().filter(({ msg }) => String(msg).includes('can be guessed'));
    t.equal(said.length, warnings, `${token.length} characters`);
    for (const line of said) t.match(line, { level: 'warn', where: 'ADMIN_TOKEN', msg: /31 characters/ });
    t.notMatch(program.stdout + program.stderr, token);
  }
});
