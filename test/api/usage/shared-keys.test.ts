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
  const operators = `${path}&account_id=${parent.id}`;
  const expected = [
    [child.id, rows[3]?.keyId, 1],
    [child.id, nil, 5],
    [parent.id, rows[0]?.keyId, 1],
    [parent.id, nil, 5],
  ];
  const shown = (data: unknown): unknown[] =>
    (data as Record<string, unknown>[]).map((row) => [
      row['sub_account_id'],
      row['api_key_id'],
      row['requests'],
    ]);
  for (const call of [
    (query: string) => parent.call('GET', `${path}${query}`),
    (query: string) => apis.operator('GET', `${operators}${query}`),
  ]) {
    t.strictSame(shown((await call('')).body['data']), expected);
    const paged: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await call(`&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...shown(body['data']));
      cursor = body['next_cursor'] as string | null;
    }
    t.strictSame(paged, expected);
  }
  const headers = { accept: 'text/csv' };
  for (const { text } of [
    await parent.call('GET', path, { headers }),
    await apis.operator('GET', operators, { headers }),
  ]) {
    const [names = [], ...lines] = text
      .trim()
      .split('\r\n')
      .map((line) => line.split(','));
    const columns = ['sub_account_id', 'api_key_id', 'requests'].map((name) => names.indexOf(name));
    t.strictSame(
      lines.map((line) => columns.map((column) => line[column])),
      expected.map((cells) => cells.map(String)),
    );
  }
  const whole = await parent.call('GET', '/usage?from=2026-04-01&to=2026-04-02');
  t.match(whole.body['data'], [{ requests: 6 }, { requests: 6 }]);
  t.notOk(
    'api_key_id' in (whole.body['data'] as [object])[0],
    'a report that is not by key has no such member',
  );
});
