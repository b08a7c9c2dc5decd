// class: app
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import type { HttpResponse, Call } from '../../support/http-client.ts';

/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t);

interface List {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

t.test('lists come newest first, in pages that neither repeat nor skip a row', async (t) => {
  const parent = await apis.parent();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.unshift((await parent.create({ name: `Child ${i}` })).id);
  t.same(await pages(parent.call, '?'), [ids]);
  t.same(await pages(parent.call, '?limit=2'), [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  t.same(await pages(parent.call, '?limit=5'), [ids], 'a full last page says that it is the last');
});

t.test('sub-accounts are filtered by status and by external_id, pages included', async (t) => {
  const parent = await apis.parent();
  const off: string[] = [];
  for (let i = 0; i < 3; i++) {
    const child = await parent.create({ name: `Child ${i}`, external_id: `ext/${i}+?&` });
    if (i === 1) continue;
    await child.act('deactivate');
    off.unshift(child.id);
  }
  t.same(await pages(parent.call, '?status=deactivated&limit=1'), [[off[0]], [off[1]]]);
  const one = `?external_id=${encodeURIComponent('ext/0+?&')}`;
  t.same(await pages(parent.call, one), [[off[1]]]);
  t.same(await pages(parent.call, `${one}&status=active`), [[]]);
});

t.test('sub-accounts are found by the start of their name and by metadata, pages included', async (t) => {
  const parent = await apis.parent();
  const metadata = { plan: 'a=b&c', 'a[b]': '2' };
  const [one, two] = [
    await parent.create({ name: 'Blue 1', metadata }),
    await parent.create({ name: 'Blue 2' }),
  ];
  await parent.create({ name: 'Red', metadata: { plan: 'gold' } });
  t.same(await pages(parent.call, '?q=bLUE&limit=1'), [[two.id], [one.id]]);
  t.same(await pages(parent.call, `?metadata[plan]=${encodeURIComponent('a=b&c')}&q=b`), [[one.id]]);
  t.same(await pages(parent.call, '?metadata%5Ba[b]%5D=2'), [[one.id]]);
  t.same(await pages(parent.call, '?metadata[plan]='), [[]]);

  const cursor = list(await parent.call('GET', '?q=blue&limit=1')).next_cursor ?? '';
  for (const query of ['', '&q=b', '&q=blue&metadata[plan]=gold'])
    t.match(await parent.call('GET', `?cursor=${cursor}${query}`), badParameter('cursor'), query);
});

t.test('keys are paged, each list by itself', async (t) => {
  const parent = await apis.parent();
  const [one, two] = [await parent.create(), await parent.create()];
  for (let i = 0; i < 3; i++) await one.mint();
  const found = await pages(parent.call, `/${one.id}/api-keys?limit=2`);
  t.same([found[0]?.length, found[1]?.length, found.length], [2, 1, 2]);
  const cursor = list(await parent.call('GET', `/${one.id}/api-keys?limit=1`)).next_cursor ?? '';
  t.equal((await parent.call('GET', `/${one.id.toUpperCase()}/api-keys?cursor=${cursor}`)).status, 200);
  for (const path of [`/${two.id}/api-keys`, ''])
    t.match(await parent.call('GET', `${path}?cursor=${cursor}`), badParameter('cursor'));
});

t.test('a cursor of other filters or of another account is rejected, not followed', async (t) => {
  const parent = await apis.parent();
  const other = await apis.parent();
  for (let i = 0; i < 2; i++) {
    await parent.create();
    await other.create();
  }
  const cursor = list(await parent.call('GET', '?limit=1&status=active')).next_cursor ?? '';
  t.equal((await parent.call('GET', `?limit=50&status=active&cursor=${cursor}`)).status, 200);
  for (const query of ['', '&status=deactivated', '&status=active&external_id=x']) {
    t.match(await parent.call('GET', `?limit=1&cursor=${cursor}${query}`), badParameter('cursor'), query);
  }
  t.match(await other.call('GET', `?limit=1&status=active&cursor=${cursor}`), badParameter('cursor'));
});

t.test('query parameters that are wrong, unknown or repeated are rejected by name', async (t) => {
  const parent = await apis.parent();
  const { id } = await parent.create();
  const rows: [string, string][] = [
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=-1', 'limit'],
    ['?limit=1.5', 'limit'],
    ['?limit=', 'limit'],
    ['?limit=ten', 'limit'],
    ['?limit=1&limit=2', 'limit'],
    ['?limit[]=1', 'limit[]'],
    ['?q=', 'q'],
    ['?q=%00', 'q'],
    [`?q=${'x'.repeat(257)}`, 'q'],
    ['?q=a&q=b', 'q'],
    ['?metadata=x', 'metadata'],
    ['?metadata[]=x', 'metadata[]'],
    [`?metadata[${'k'.repeat(41)}]=x`, `metadata[${'k'.repeat(41)}]`],
    [`?metadata[k]=${'v'.repeat(501)}`, 'metadata[k]'],
    ['?metadata[k]=a&metadata[k]=b', 'metadata[k]'],
    ['?metadata[k][l]=a&metadata[k', 'metadata[k'],
    ['?status=suspended', 'status'],
    ['?status=', 'status'],
    ['?external_id=', 'external_id'],
    ['?external_id=a%20b', 'external_id'],
    ['?external_id=a,b', 'external_id'],
    ['?external_id=%00', 'external_id'],
    ['?cursor=', 'cursor'],
    ['?cursor=nonsense', 'cursor'],
    [`?cursor=${'a'.repeat(2000)}`, 'cursor'],
    ['?Limit=1', 'Limit'],
    ['?name=x', 'name'],
    ['?__proto__=x', '__proto__'],
    ['?constructor=x', 'constructor'],
    [`/${id}?expand=keys`, 'expand'],
    [`/${id}/api-keys?status=lost`, 'status'],
    [`/${id}/api-keys?name=x`, 'name'],
    [`/usage?account_id=${id}`, 'account_id'],
  ];
  for (const [path, parameter] of rows)
    t.match(await parent.call('GET', path), badParameter(parameter), path);
  const write = await parent.call('POST', '?dry_run=true', { body: { name: 'x' } });
  t.match(
    write,
    badParameter('dry_run'),
    'on writes as well: a client that sends one expects something of it',
  );
  t.match(await parent.call('POST', `/${id}/deactivate?force`), badParameter('force'));
  t.match(await parent.call('GET', `/${id}`), { body: { status: 'active' } });
});

function badParameter(name: string) {
  return { status: 400, body: { code: 'invalid_request', errors: [{ pointer: `?${name}` }] } };
}

/** The ids of every page, from the first to the last. */
async function pages(call: Call, path: string): Promise<string[][]> {
  const found: string[][] = [];
  let cursor = '';
  for (;;) {
    const page = list(await call('GET', `${path}${cursor}`));
    found.push(idsOf(page));
    if (page.has_more !== (page.next_cursor !== null)) throw new Error('has_more and next_cursor disagree');
    if (page.next_cursor === null) return found;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

function list({ status, body, text }: HttpResponse): List {
  if (status !== 200) throw new Error(text);
  return body as unknown as List;
}

function idsOf({ data }: List): string[] {
  return data.map(({ id }) => id);
}
