// class: app
import t from 'tap';
import { ProblemError } from '../../../src/domain/problem.ts';
import { startApis } from '../../support/apis.ts';

t.test(
  'a change that a replica could still decide against gets its response once it is enforced, with a receipt',
  async (t) => {
    const apis = await startApis(t);
    const parent = await apis.parent();
    const receipt = 'replicas=1; ms=0';
    const waits = async (method: string, path: string, body?: object): Promise<boolean> => {
      const before = apis.waitedFor.length;
      const response = await parent.call(method, path, body && { body });
      t.ok(response.status < 300, `${method} ${path}: ${response.status}`);
      const waited = apis.waitedFor.length > before;
      t.equal(
        response.headers['x-service-enforced'],
        waited ? receipt : undefined,
        'a receipt exactly where it waited',
      );
      return waited;
    };
    t.ok(
      await waits('POST', '', { name: 'First' }),
      'the first sub-account makes the acting header required',
    );
    t.notOk(
      await waits('POST', '', { name: 'Second' }),
      'no replica holds a fact that a further one changes',
    );
    const { id } = await parent.create();
    const minted = await parent.call('POST', `/${id}/api-keys`, { body: { name: 'k' } });
    t.equal(minted.headers['x-service-enforced'], undefined, 'nor about a key that was never seen');
    t.notOk(await waits('GET', `/${id}`));
    t.notOk(await waits('PATCH', `/${id}`, { name: 'New name' }), 'a name decides nothing');
    t.ok(await waits('PATCH', `/${id}`, { external_id: 'a' }));
    t.ok(await waits('PATCH', `/${id}`, { external_id: null }));
    t.ok(await waits('POST', `/${id}/deactivate`));
    t.ok(await waits('POST', `/${id}/deactivate`), 'a repeated one promises the same, so it waits too');
    t.ok(await waits('POST', `/${id}/reactivate`));
    const revoke = `/${id}/api-keys/${String(minted.body['id'])}/revoke`;
    t.ok(await waits('POST', revoke));
    t.ok(await waits('POST', revoke));
    t.ok(await waits('POST', `/${id}/api-keys/revoke-all`));
    t.ok(await waits('POST', `/${id}/api-keys/revoke-all`));
  },
);

t.test(
  'where enforcement cannot be known there is no 2xx, and the same call again may succeed',
  async (t) => {
    let reachable = false;
    const apis = await startApis(t, {
      deps: {
        barrier: {
          enforced: () =>
            reachable
              ? Promise.resolve({ replicas: 2, timedOut: 1, streamsClosed: 3, ms: 12.3 })
              : Promise.reject(
                  new ProblemError({ code: 'unavailable', detail: 'Not known yet.', retryAfter: 2 }),
                ),
        },
      },
    });
    const parent = await apis.parent();
    const rejected = await parent.call('POST', '', { body: { name: 'A', external_id: 'a' } });
    t.match(rejected, { status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '2' } });
    t.equal(rejected.headers['x-service-enforced'], undefined);

    const { data } = (await parent.call('GET', '?external_id=a')).body as {
      data: { id: string }[];
    };
    t.equal(data.length, 1, 'it is committed all the same');
    reachable = true;
    const response = await parent.call('POST', `/${data[0]?.id ?? ''}/deactivate`);
    t.match(response, {
      status: 200,
      headers: { 'x-service-enforced': 'replicas=2; ms=13; unheard=1; streams=3' },
    });
  },
);
