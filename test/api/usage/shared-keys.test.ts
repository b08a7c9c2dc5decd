// class: app
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { april, ofParents, usageRow } from '../../support/usage-rows.ts';

const apis = await startApis(t);
const nil = '00000000-0000-0000-0000-000000000000';

t.test('the row that keys share has the nil UUID as key, in JSON, over its pages and in CSV', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  const rows = [parent.id, child.id].flatMap((id) =>
    [1, 2, 3].map((requests) =>
      usageRow(id, april, { keyId: `${requests}${randomUUID().slice(1)}`, requests }),
    ),
  );
  await apis.store.usage.add({
    ...{ journal: randomUUID(), from: 0, to: rows.length, rows: await ofParents(apis.store.usage, rows) },
    ...{ keysPerAccountHour: 1, throughMs: Infinity },
  });
  const path = '/usage?from=2026-04-01&to=2026-04-02&group_by=api_key';
  const expected = [
    [child.id, rows[3]?.keyId, 1],
    [child.id, nil, 5],
    [parent.id, rows[0]?.keyId, 1],
    [parent.id, nil, 5],
  ];
  const columns = ['sub_account_id', 'api_key_id', 'requests'];
  const ask = [
    (more: string, headers = {}) => parent.call('GET', path + more, { headers }),
    (more: string, headers = {}) =>
      apis.operator('GET', `${path}&account_id=${parent.id}${more}`, { headers }),
  ];
  for (const call of ask) {
    const paged: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await call(`&limit=3${cursor && `&cursor=${cursor}`}`);
      for (const row of body['data'] as Record<string, unknown>[])
        paged.push(columns.map((name) => row[name]));
      cursor = body['next_cursor'] as string | null;
    }
    t.strictSame(paged, expected);
    const [names = [], ...lines] = (await call('', { accept: 'text/csv' })).text
      .trim()
      .split('\r\n')
      .map((line) => line.split(','));
    t.strictSame(
      lines.map((line) => columns.map((name) => line[names.indexOf(name)])),
      expected.map((cells) => cells.map(String)),
    );
  }
});
