// class: app
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { commandLine, commandLineAtTerminal } from '../../support/command-line.ts';
import { startReplicas } from '../../support/replicas.ts';

t.test('accounts are deleted from the command line, after a confirmation that names what goes', async (t) => {
  const { internalOrigin, operator, parent: newParent } = await startReplicas(t);
  const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
  const run = (...args: string[]) => commandLine(env, ...args);
  const parent = await newParent();
  const sub = await parent.create({ name: 'Ada Logistics' });

  t.match(await run('sub-accounts', 'delete', sub.id), {
    code: 64,
    stderr: new RegExp(`Ada Logistics \\(${sub.id}\\), which is active[^]*Nothing was deleted[^]*--yes`),
  });
  t.match(await run('sub-accounts', 'delete', sub.id, '--yes'), { code: 1, stderr: /deactivate/ });
  await sub.act('deactivate');
  t.match(await commandLineAtTerminal('yes\n', env, 'sub-accounts', 'delete', sub.id), {
    code: 1,
    stderr: /cannot be undone[^]*Type the id[^]*not the id\. Nothing was deleted/,
  });
  const deleted = await run('sub-accounts', 'delete', parent.id, sub.id, '--yes', '--json');
  t.equal(deleted.code, 0, deleted.stderr);
  t.match(JSON.parse(deleted.stdout), { id: sub.id, deleted: true, enforced: { replicas: Number } });
  t.match(await run('sub-accounts', 'delete', sub.id, '--yes'), {
    code: 1,
    stderr: /no account or sub-account/,
  });
  t.match(await run('erasures', 'show', sub.id), { code: 0, stdout: /pending/ });

  t.match(await run('accounts', 'delete', parent.id), {
    code: 64,
    stderr: /Parent[^]*0 active sub-accounts/,
  });
  await operator('POST', `/accounts/${parent.id}/suspend`);
  t.match(await commandLineAtTerminal(`${parent.id}\n`, env, 'accounts', 'delete', parent.id), {
    code: 0,
    stdout: /is deleted[^]*In force on[^]*erasures show/,
  });
  t.match(await run('accounts', 'show', parent.id), { code: 1 });
  const shown = await run('erasures', 'show', parent.id, '--json');
  t.match(JSON.parse(shown.stdout), { account_id: parent.id, parent_id: null });
});
