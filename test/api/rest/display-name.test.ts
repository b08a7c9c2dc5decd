// class: app
import t from 'tap';
import { startApis } from '../../support/apis.ts';

const apis = await startApis(t);

t.test('a name has something to be seen in it, and nothing that forges what is around it', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  const create = (name: string) => apis.operator('POST', '/accounts', { body: { name } });
  const seen = [
    'a',
    ' a ',
    '0',
    '?',
    '😀',
    'Ünïcode',
    'عربي',
    'नमस्ते',
    '👩\u200d🚀',
    '日本 語',
    '€',
    'x'.repeat(256),
  ];
  for (const name of seen)
    t.match(await create(name), { status: 201, body: { name } }, encodeURIComponent(name));
  const unseen = ['', ' ', '\u00a0\u2003', '\u200b', '\u200d\ufeff', '\u3164', '\u2800\u115f', '\u00ad'];
  const forged = [
    'a\nb',
    '\ta',
    'a\u0000',
    'a\u0085b',
    'a\u2028b',
    'gpj.\u202eexe',
    '\u2066a\u2069',
    'x'.repeat(257),
  ];
  for (const name of [...unseen, ...forged]) {
    const refused = { status: 400, body: { code: 'invalid_request', errors: [{ pointer: '/name' }] } };
    const text = encodeURIComponent(name);
    t.match(await create(name), refused, text);
    t.match(await parent.call('POST', '', { body: { name } }), refused, text);
    t.match(await parent.call('PATCH', `/${child.id}`, { body: { name } }), refused, text);
    t.match(await parent.call('POST', `/${child.id}/api-keys`, { body: { name } }), refused, text);
  }
});

t.test('a scope that looks like one of the gateway itself is one', async (t) => {
  const { id } = await apis.parent();
  const mint = (scope: string) =>
    apis.operator('POST', `/accounts/${id}/api-keys`, {
      body: { name: 'k', scopes: ['orders:read', scope] },
    });
  for (const [scope, said] of [
    ['sub_accounts:reed', /Did you mean `sub_accounts:read`/],
    ['sub_accounts:writes', /Did you mean `sub_accounts:write`/],
    ['sub_accounts:raed', /Did you mean `sub_accounts:read`/],
  ] as const)
    t.match(
      await mint(scope),
      { status: 400, body: { code: 'invalid_request', errors: [{ pointer: '/scopes/1', detail: said }] } },
      scope,
    );
  for (const scope of [
    'sub_accounts:read',
    'sub_accountss:read',
    'orders:*',
    'sub-accounts:reed',
    'sub_accounts:*',
    'sub_accounts',
  ])
    t.equal((await mint(scope)).status, 201, scope);
});
