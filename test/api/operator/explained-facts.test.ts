// class: app
import t from 'tap';
import { startReplicas } from '../../support/replicas.ts';

interface Facts {
  readonly replica_id: string;
  readonly applied: number;
  readonly age_ms: number;
}

t.test('an explanation says how new its facts are, and has every change that was answered', async (t) => {
  const { operator, parent: makeParent } = await startReplicas(
    t,
    'routes: [{prefix: /login, upstream: "http://127.0.0.1:1", authentication: none, open_per_second: 5}]',
  );
  const parent = await makeParent();
  const explain = async (path: string): Promise<Facts | null> => {
    const { body } = await operator('POST', '/explain', {
      body: { key_id: parent.keyId, method: 'GET', path },
    });
    return body['facts'] as Facts | null;
  };
  const position = async (): Promise<number> => Number((await operator('GET', '/replicas')).body['position']);
  const { body: own } = await operator('GET', '/whoami');
  for (const path of ['/orders', '/v1/sub-accounts']) {
    await operator('POST', `/accounts/${parent.id}/suspend`);
    const before = await position();
    const facts = await explain(path);
    t.match(facts, { replica_id: own['replica_id'] as string });
    t.ok(facts !== null && facts.applied >= before, `${facts?.applied} of ${before}`);
    t.ok(facts !== null && facts.age_ms >= 0 && facts.age_ms < 10_000, `${facts?.age_ms} ms`);
    await operator('POST', `/accounts/${parent.id}/resume`);
    t.ok(((await explain(path))?.applied ?? 0) > (facts?.applied ?? 0), 'the next change moves it');
  }
  for (const path of ['/login', '/a/../b']) t.equal(await explain(path), null, `${path} uses no facts`);
});
