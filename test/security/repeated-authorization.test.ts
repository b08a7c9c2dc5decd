// class: app
import t from 'tap';
import { startProxied } from '../support/gateway.ts';
import { authorizationSchemes, challengesOf } from '../../src/domain/authorization.ts';
import { credentialForms } from '../support/credential-forms.ts';

t.test('two Authorization headers are 401: neither the first nor the last one wins', async (t) => {
  const { upstream, call, directory, parent } = await startProxied(t, { schemes: authorizationSchemes });
  const other = directory.addParent();
  const forms = Object.entries(credentialForms);
  for (const [first, a] of forms)
    for (const [second, b] of forms)
      for (const [one, two] of [
        [parent.key, other.key],
        [parent.key, parent.key],
        [parent.key, 'nonsense'],
        ['nonsense', parent.key],
      ] as const) {
        const response = await call('GET', '/', {
          key: null,
          headers: [
            ['Authorization', a.of(one)],
            ['authorization', b.of(two)],
          ],
        });
        t.match(response, { status: 401, code: 'unauthenticated' }, `${first}, ${second}`);
        t.equal(response.headers['www-authenticate'], challengesOf(authorizationSchemes).join('\n'));
      }
  t.equal(upstream.heads, 0);
});

t.test('nor do two keys in one header count', async (t) => {
  const { upstream, call, parent } = await startProxied(t, { schemes: authorizationSchemes });
  for (const { scheme, of } of Object.values(credentialForms))
    for (const value of [
      `${of(parent.key)}, ${of(parent.key)}`,
      `${of(parent.key)} ${parent.key}`,
      `${of(parent.key)},`,
      scheme,
      '',
    ]) {
      const response = await call('GET', '/', { key: null, headers: [['Authorization', value]] });
      t.equal(response.status, 401, value);
    }
  t.equal(upstream.heads, 0);
});
