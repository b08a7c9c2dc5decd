// class: app
/** A client with a cache of its own (undici's, by RFC 9111) asks for several tenants at one address. */
import t from 'tap';
import { Agent, interceptors, request } from 'undici';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

for (const client of ['native', 'undici'] as const) {
  t.test(`${client}: a cache gives each acting header and each key its own response`, async (t) => {
    const upstream = await startUpstream(t, ({ values }, response) => {
      response.setHeader('cache-control', 'private, max-age=60').setHeader('vary', 'Accept');
      response.end(values('x-service-resolved-tenant')[0]);
    });
    const { port, directory, parent } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, client } },
      // The cache keeps no response to a request with `Authorization`.
      apiKeyHeaders: ['X-API-Key'],
    });
    const other = directory.addParent();
    const of = (holder: typeof parent, name: string) => directory.addSubAccount(holder, name).id;
    const [ada, bob, theirs] = [of(parent, 'ada'), of(parent, 'bob'), of(other, 'ada')];
    const agent = new Agent().compose(interceptors.cache({ type: 'private' }));
    t.teardown(() => agent.close());
    const asked = async (key: string | null, as: string | null) => {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}/orders`, {
        dispatcher: agent,
        headers: { ...(key && { 'x-api-key': key }), ...(as && { 'x-service-acting-tenant': as }) },
      });
      const text = await body.text();
      return statusCode === 200 ? text : statusCode;
    };
    const cases = [
      [parent.key, 'ext:ada', ada],
      [parent.key, 'ext:bob', bob],
      [parent.key, 'self', parent.id],
      [parent.key, null, parent.id],
      [other.key, 'ext:ada', theirs],
      [other.key, 'self', other.id],
    ] as const;
    for (const round of ['first', 'kept'])
      for (const [key, as, expected] of cases) t.equal(await asked(key, as), expected, `${as}, ${round}`);
    t.equal(upstream.heads, cases.length, 'each response was kept');
    t.equal(await asked(null, 'ext:ada'), 401);
    t.equal(await asked(parent.key, 'ext:nobody'), 403);
  });
}
