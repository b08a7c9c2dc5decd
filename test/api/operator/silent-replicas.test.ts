// class: app
import t from 'tap';
import { startApis } from '../../support/apis.ts';
import { freshStore } from '../../support/store.ts';

t.test(
  'a report waits for a silent replica, names it, and goes on once an operator has forgotten it',
  async (t) => {
    const { store, sql } = await freshStore(t);
    const apis = await startApis(t, { store });
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    /** A replica that announced itself and was not heard of for so long. */
    const leave = async (id: string, host: string | null, minutes: number): Promise<void> => {
      const throughMs = minutesAgo(minutes).getTime();
      await store.usage.add({
        journal: id,
        from: 0,
        to: 0,
        rows: [],
        keysPerAccountHour: 200,
        throughMs,
        ...(host !== null && { host }),
      });
      await sql`update usage_journal set at = ${minutesAgo(minutes)} where id = ${id}`;
    };
    const silent = async () => (await apis.operator('GET', '/replicas')).body['silent'];
    const forget = (replica: string) => apis.operator('POST', '/usage/forget', { body: { replica } });
    const report = async (from: string) =>
      (await apis.operator('GET', `/usage?from=${from}`)).body as {
        complete_through: string;
        incomplete: boolean;
        silent: string[];
      };
    const today = new Date(Date.now() - 3_600_000).toISOString();
    const behindMinutes = async () =>
      Math.round((Date.now() - Date.parse((await report(today)).complete_through)) / 60_000);

    await leave('alive', 'gateway-0', 0);
    t.same(await silent(), []);
    t.match(await forget('gateway-0'), { status: 404, body: { code: 'not_found' } }, 'it is heard of');
    t.equal((await forget('gateway-1')).status, 404);

    await leave('gone', 'gateway-1', 10);
    t.match(await silent(), [{ id: 'gone', host: 'gateway-1', given_up: false }]);
    t.match(await report(today), { incomplete: false, silent: ['gateway-1'] });
    t.equal(await behindMinutes(), 10);
    t.match(await forget('gateway-1'), { status: 200, body: { replica: 'gateway-1', forgotten: 1 } });
    t.match(await silent(), [{ id: 'gone', given_up: true }]);
    t.match(await report(today), { incomplete: true, silent: ['gateway-1'] });
    t.equal(await behindMinutes(), 0);
    t.equal((await forget('gone')).status, 200, 'by its id, and once more');

    const parent = await apis.parent();
    const own = await parent.call('GET', '/usage');
    t.equal(own.status, 200);
    t.notOk('silent' in own.body, 'hosts are not for parents');

    await store.usage.add({
      journal: 'gone',
      from: 0,
      to: 0,
      rows: [],
      keysPerAccountHour: 200,
      throughMs: Date.now(),
    });
    t.same(await silent(), [], 'it is heard of again');
    t.match(await report(today), { incomplete: false, silent: [] });

    // The longest lease of any replica stands for that of the silent one.
    await sql`insert into replica (id, nonce, level, lease_ms, streams_ms) values ('r', 'n', 1, 600000, 0)`;
    await leave('old', null, 20);
    t.match(await silent(), [{ id: 'old', host: null, given_up: false }], 'fifteen minutes after its lease');
    t.match((await report(today)).silent, ['old']);
    await leave('older', 'gateway-2', 26);
    t.match(await silent(), [
      { id: 'older', given_up: true },
      { id: 'old', given_up: false },
    ]);
    t.equal(await behindMinutes(), 20);
  },
);
