// class: app
import fc from 'fast-check';
import t from 'tap';
import { foldHeaderName } from '../../src/domain/header-names.ts';
import { startGateway } from '../support/gateway.ts';
import { separators, trustedNames } from '../support/header-spellings.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('no spelling of a trusted name stands beside the real one', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const separator of separators) {
    const headers = trustedNames.map((name): [string, string] => [name.replaceAll('-', separator), 'forged']);
    headers.push([`x${separator}service${separator}anything`, 'forged']);
    headers.push([`X-Service${separator}Anything`, 'forged']);
    const response = await call('GET', '/', { headers });
    t.equal(response.status, 200, separator);
    t.notOk(upstream.received.at(-1)?.rawHeaders.includes('forged'), separator);
  }
});

t.test('names are compared as the most careless reader would, however they are mixed', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  const variant = fc.constantFrom(...trustedNames).chain((name) =>
    fc
      .array(fc.tuple(fc.boolean(), fc.constantFrom(...separators)), {
        minLength: name.length,
        maxLength: name.length,
      })
      .map((choices) =>
        Array.from(name, (char, i) => {
          const [upper, separator] = choices[i] as [boolean, string];
          return char === '-' ? separator : upper ? char.toUpperCase() : char.toLowerCase();
        }).join(''),
      ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(variant, { minLength: 1, maxLength: 20 }), async (names) => {
      await call('GET', '/', { headers: names.map((name) => [name, 'forged']) });
      return !upstream.received.at(-1)?.rawHeaders.includes('forged');
    }),
    { numRuns: 50 },
  );
});

t.test('with a prefix of its own, both it and the usual one are reserved', async (t) => {
  const upstream = await startUpstream(t);
  const { call, parent } = await startGateway(t, { routes: { '/': upstream.url }, prefix: 'Acme-' });
  await call('GET', '/', {
    headers: [
      ['acme_resolved_tenant', 'forged'],
      ['X-Service-Resolved-Tenant', 'forged'],
      ['Acme.Anything', 'forged'],
      ['Acmeish', 'fine'],
    ],
  });
  const [got] = upstream.received;
  t.notOk(got?.rawHeaders.includes('forged'));
  t.strictSame(got?.values('acme-resolved-tenant'), [parent.id]);
  t.strictSame(got?.values('acmeish'), ['fine']);
});

t.test('however many names a client makes up, the next ones are checked all the same', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  for (let i = 0; i < 30; i++) {
    const headers = Array.from({ length: 90 }, (_, j): [string, string] => [`X-Made-Up-${i}-${j}`, '1']);
    await call('GET', '/', { headers });
  }
  await call('GET', '/', { headers: [['x_service_resolved_tenant', 'forged']] });
  const names = upstream.received.at(-1)?.rawHeaders.filter((_, i) => i % 2 === 0) ?? [];
  t.equal(names.filter((name) => foldHeaderName(name) === 'x-service-resolved-tenant').length, 1);
});
