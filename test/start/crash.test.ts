// class: built
import t from 'tap';
import { becomes, startProcess } from '../support/process.ts';

t.test(
  'an error nobody expected ends the process with code 1, told in the log and without secrets',
  async (t) => {
    const secret = 'tgw_0YzHNzcLGvuqI2WnXT8om15aTnQDlgoiK27LRHZ';
    for (const crash of [
      `throw new Error('boom ${secret}')`,
      `Promise.reject(new Error('boom ${secret}'))`,
    ]) {
      const script = `process.on('SIGUSR2', () => { ${crash} })`;
      const { program, internalUrl } = await startProcess(t, {
        DATABASE_URL: 'postgres://127.0.0.1:1/none',
        UPSTREAM_URL: 'http://127.0.0.1:2',
        NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(script)}"`,
      });
      await becomes(internalUrl, 503);
      t.equal(await program.kill('SIGUSR2'), 1);
      const told = program.log().find(({ level }) => level === 'fatal');
      t.match(told, { level: 'fatal', err: { message: /boom \[secret\]/, stack: String } });
      t.notMatch(program.stdout + program.stderr, secret);
    }
  },
);

t.test('a signal while it is still starting ends it in order', async (t) => {
  const { program, internalUrl } = await startProcess(t, {
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    UPSTREAM_URL: 'http://127.0.0.1:2',
  });
  await becomes(internalUrl, 503, 'starting');
  t.equal(await program.kill('SIGTERM'), 0);
  t.notOk(program.log().some(({ msg }) => msg === 'ready'));
});
