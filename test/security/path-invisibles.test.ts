// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

/**
 * Comparisons of .NET that go by a culture (`path.StartsWith("/billing")` does) and collations of databases leave these out: soft
 * hyphen, zero-width space, non-joiner and joiner, marks of direction, word joiner, variation selector, byte order mark, tag.
 */
const invisibles = [
  '\u00ad',
  '\u200b',
  '\u200c',
  '\u200d',
  '\u200e',
  '\u202e',
  '\u2060',
  '\ufe0f',
  '\ufeff',
  '\u{e0061}',
];

t.test('a path that leads elsewhere without its invisible characters is rejected', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, {
    routes: {
      '/': upstream.url,
      '/billing': { upstream: upstream.url, scopes: { read: 'billing:read', write: null } },
    },
  });
  for (const invisible of invisibles) {
    const encoded = encodeURIComponent(invisible);
    for (const target of [
      `/bill${encoded}ing/x`,
      `/billing${encoded}`,
      `/${encoded}billing/x`,
      `/${encoded}/billing`,
    ]) {
      t.equal((await call('GET', target)).status, 400, target);
    }
    t.equal((await call('GET', `/x/.${encoded}./billing`)).status, 400, 'a dot segment');
  }
  t.equal(upstream.heads, 0);
  t.equal(
    (await call('GET', '/%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB/%E0%A4%95%E0%A5%8D%E2%80%8D')).status,
    200,
    'in honest text they pass',
  );
});
