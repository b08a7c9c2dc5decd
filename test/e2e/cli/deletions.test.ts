// class: app
import t from 'tap';
import { startCommands } from '../../support/commands.ts';

t.test('accounts are deleted from the command line, after a confirmation that names what goes', async (t) => {
  const { run, text, json, typing, operator, parent: newParent } = await startCommands(t);
  const parent = await newParent();
  const sub = await parent.create({ name: 'Ada Logistics' });

  t.match(await run(`sub-accounts delete ${sub.id}`), {
    code: 64,
    stderr: new RegExp(`Ada Logistics \\(${sub.id}\\), which is active[^]*Nothing was deleted[^]*--yes`),
  });
  t.match(await run(`sub-accounts delete ${sub.id} --yes`), { code: 1, stderr: /deactivate/ });
  await sub.act('deactivate');
  const declined = await typing('yes\n', `sub-accounts delete ${sub.id}`);
  t.match(declined, {
    code: 1,
    stderr: /cannot be undone[^]*Type the id[^]*not the id\. Nothing was deleted/,
  });
  const enforced = { replicas: Number };
  t.match(await json(`sub-accounts delete ${parent.id} ${sub.id} --yes`), {
    id: sub.id,
    deleted: true,
    enforced,
  });
  const again = await run(`sub-accounts delete ${sub.id} --yes`);
  t.match(again, { code: 1, stderr: /no account or sub-account/ });
  t.match(await text(`erasures show ${sub.id}`), /pending/);

  const asked = await run(`accounts delete ${parent.id}`);
  t.match(asked, { code: 64, stderr: /Parent[^]*0 active sub-accounts/ });
  await operator('POST', `/accounts/${parent.id}/suspend`);
  const deleted = await typing(`${parent.id}\n`, `accounts delete ${parent.id}`);
  t.match(deleted, { code: 0, stdout: /is deleted[^]*In force on[^]*erasures show/ });
  t.match(await run(`accounts show ${parent.id}`), { code: 1 });
  t.match(await json(`erasures show ${parent.id}`), { account_id: parent.id, parent_id: null });
});
