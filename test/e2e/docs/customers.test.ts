// class: app
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { commandLine, wordsOf } from '../../support/command-line.ts';
import { commandsOf, readPage } from '../../support/docs.ts';
import { startReplicas } from '../../support/replicas.ts';

const page = readPage('customers.md');

t.test('the commands for customers of your own work, word for word', async (t) => {
  const { internalOrigin, operator } = await startReplicas(t);
  const [id, subId] = [randomUUID(), randomUUID()];
  const env = {
    INTERNAL_PORT: new URL(internalOrigin).port,
    ADMIN_TOKEN: operatorToken,
    CUSTOMER_ID: id,
    SUB_ID: subId,
  };
  const outputs: string[] = [];
  for (const command of commandsOf(page)) {
    const { code, stdout, stderr } = await commandLine(env, ...wordsOf(command, env));
    t.equal(code, 0, `${command}: ${stderr}`);
    outputs.push(stdout);
  }
  const [created, updated, gold, planned, limited, rated, started, found, having, ...below] = outputs;
  const [child, children, slowed, shown, off, on, ...more] = below;
  t.same(more, []);
  t.match(created, new RegExp(`${id}[^]*cus_42[^]*region=us`));
  t.match(updated, /Acme Freight Ltd[^]*region=eu/);
  t.match(gold, /gold[^]*100 a second, 200 at once[^]*most sub-accounts +500/);
  t.match(planned, /plan +gold[^]*limits in force +100 a second, 200 at once/);
  t.match(limited, /most sub-accounts +500\nmost API keys +20/);
  t.match(rated, /own limits +200 a second, 400 at once/);
  for (const each of [slowed, shown]) t.match(each, /limits +50 a second, 100000 a month/);
  for (const list of [started, found, having])
    t.match(list, new RegExp(`${id} +Acme Freight Ltd +active +cus_42`));
  t.match(child, new RegExp(`${subId}[^]*ada[^]*tier=1`));
  t.match(children, new RegExp(`${subId} +Ada Logistics +active +ada`));
  t.match(off, /deactivated/);
  t.match(on, /active/);
  t.match(await operator('GET', `/accounts/${id}`), { body: { active_sub_accounts: 1 } });
});

t.test('the calls that the page names are there', async (t) => {
  const { operator } = await startReplicas(t);
  const calls = [...page.matchAll(/`(GET|POST|PATCH) \/admin\/v1([^`]*)`/g)];
  t.equal(calls.length, 8);
  for (const [call, method = '', path = ''] of calls) {
    const { headers } = await operator('PUT', path.replaceAll(/\{\w+\}/g, randomUUID()));
    t.ok(String(headers['allow']).split(', ').includes(method), call);
  }
});
