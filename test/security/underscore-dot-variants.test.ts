// class: app
import t from 'tap';
import { startProxied } from '../support/gateway.ts';
import { separators, trustedNames } from '../support/header-spellings.ts';

t.test('no spelling of a trusted name stands beside the real one', async (t) => {
  const { upstream, call } = await startProxied(t);
  for (const separator of separators) {
    const headers = trustedNames.map((name): [string, string] => [name.replaceAll('-', separator), 'forged']);
    headers.push([`x${separator}service${separator}anything`, 'forged']);
    headers.push([`X-Service${separator}Anything`, 'forged']);
    t.equal((await call('GET', '/', { headers })).status, 200, separator);
    t.notOk(upstream.received.at(-1)?.rawHeaders.includes('forged'), separator);
  }
});

t.test('with a prefix of its own, both it and the usual one are reserved', async (t) => {
  const { upstream, call, parent } = await startProxied(t, { prefix: 'Acme-' });
  await call('GET', '/', {
    headers: {
      acme_resolved_tenant: 'forged',
      'X-Service-Resolved-Tenant': 'forged',
      'Acme.Anything': 'forged',
      Acmeish: 'fine',
    },
  });
  const [got] = upstream.received;
  t.notOk(got?.rawHeaders.includes('forged'));
  t.strictSame(got?.values('acme-resolved-tenant'), [parent.id]);
  t.strictSame(got?.values('acmeish'), ['fine']);
});
