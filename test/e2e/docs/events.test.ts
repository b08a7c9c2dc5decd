// class: built
import t from 'tap';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { operatorEventTypes } from '../../../src/domain/event.ts';
import { makeParents, operatorToken } from '../../support/apis.ts';
import { commandsOf, installed, readPage } from '../../support/docs.ts';
import { startReplicas } from '../../support/replicas.ts';

const page = readPage('events.md');
const [, runbook = ''] = readPage('operating.md').split('\n## Who did it?\n');

t.test('the commands about events work, word for word', async (t) => {
  const { internalOrigin, origin, operator, call } = await startReplicas(t);
  const parent = await makeParents(call, operator)();
  const child = await parent.create({ name: 'Ada' });
  await operator('POST', `/accounts/${parent.id}/sub-accounts/${child.id}/deactivate`);
  const { body } = await operator('GET', `/events?account_id=${parent.id}`);
  const [newest] = body['data'] as { readonly id: string }[];

  const env = {
    PATH: installed(t).PATH,
    INTERNAL_PORT: new URL(internalOrigin).port,
    ADMIN_TOKEN: operatorToken,
    NO_COLOR: '1',
    GATEWAY_URL: origin,
    API_KEY: parent.key,
    ACCOUNT_ID: parent.id,
    SUB_ID: child.id,
    EVENT_ID: newest?.id,
    SINCE: '2026-01-01T00:00:00Z',
  };
  const run = async (command: string): Promise<string> =>
    (await promisify(execFile)('sh', ['-ec', command], { env })).stdout;
  const outputs = (text: string) => Promise.all(commandsOf(text.replaceAll('\\\n', ' ')).map(run));

  const deactivated = new RegExp(
    `^20\\S+ +sub_account\\.deactivated +Ada +operator operator +${newest?.id}$`,
    'm',
  );
  const [list, show, curl, ...more] = await outputs(page);
  t.same(more, []);
  t.match(list, deactivated);
  t.match(
    show,
    /what +sub_account\.deactivated[^]*by +operator operator[^]*status +"active" → "deactivated"/,
  );
  t.match(JSON.parse(curl ?? ''), {
    data: [{ type: 'sub_account.deactivated' }, { type: 'sub_account.created' }, {}, {}],
  });

  const [ofSub, shown, all, ...others] = await outputs(runbook.split('\n## ')[0] ?? '');
  t.same(others, []);
  t.match(ofSub, deactivated);
  t.match(ofSub, /sub_account\.created +Ada +api_key key +/);
  t.notMatch(ofSub, /account\.created +\S+ +operator/);
  t.equal(shown, show);
  t.match(all, /account\.created/);
});

t.test('the page names every type of event, and no other', async (t) => {
  const table = page.slice(page.indexOf('| type | when |')).split('\n\n')[0] ?? '';
  t.same(
    [...table.matchAll(/`([a-z_]+\.[a-z]+)`/g)]
      .map(([, type]) => type)
      .filter((type) => type !== 'previous.id')
      .sort(),
    [...operatorEventTypes].sort(),
  );
});
