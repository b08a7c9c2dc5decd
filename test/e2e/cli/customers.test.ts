// class: app
/** Parents and sub-accounts under the ids, names and limits that an operator gives them. */
import t from 'tap';
import { startCommands } from '../../support/commands.ts';

t.test('customers come with ids and names of their own, from the command line', async (t) => {
  const { run, text, json } = await startCommands(t);
  const [id, subId] = ['6a1c3d5e-0000-4000-8000-00000000000a', '6a1c3d5e-0000-4000-8000-00000000000b'];
  t.match(await json(`accounts create Acme --id ${id} --external-id cus_1 --metadata plan=gold k=`), {
    ...{ id, name: 'Acme', external_id: 'cus_1', metadata: { plan: 'gold', k: '' } },
  });
  t.match(await json(`sub-accounts create ${id} Ada --id ${subId} --external-id ada --metadata a=b=c`), {
    id: subId,
    external_id: 'ada',
    metadata: { a: 'b=c' },
  });
  t.match(await json(`accounts update ${id} --name 'Acme Ltd' --metadata k plan=silver`), {
    ...{ name: 'Acme Ltd', external_id: 'cus_1', metadata: { plan: 'silver' } },
  });
  t.match(await text("accounts list --name-start 'acme l' --status active"), /Acme Ltd +active +cus_1/);
  t.match(await json('accounts list --external-id cus_2'), { data: [] });
  t.match(await text(`sub-accounts list ${id} --metadata a=b=c --external-id ada`), /Ada +active +ada/);
  t.match(await text(`sub-accounts list ${id} --metadata a=b`), /no such sub-accounts/);
  t.match(await text(`sub-accounts deactivate ${id} ${subId}`), /status +deactivated/);
  t.match(await json(`sub-accounts list ${id} --status deactivated`), { data: [{ id: subId }] });
  t.match(await json(`sub-accounts reactivate ${id} ${subId}`), { status: 'active' });
  t.match(await json(`accounts update ${id} --no-external-id`), { external_id: null });

  const most = { max_sub_accounts: 0, max_api_keys: 7 };
  t.match(await json(`accounts update ${id} --max-sub-accounts 0 --max-api-keys 7`), most);
  t.match(await text(`accounts show ${id}`), /most sub-accounts +0\nmost API keys +7/);
  const none = { max_sub_accounts: null, max_api_keys: null };
  t.match(await json(`accounts update ${id} --no-max-sub-accounts --no-max-api-keys`), none);

  const limits = {
    ...{ requests_per_second: 5, burst: 9, requests_per_minute: 70 },
    ...{ requests_per_day: 80, requests_per_month: 1_000 },
  };
  const short = '--requests-per-second 5 --burst 9 --requests-per-minute 70';
  const long = '--requests-per-day 80 --requests-per-month 1000';
  for (const account of [`accounts update ${id}`, `sub-accounts update ${id} ${subId}`])
    t.match(await json(`${account} ${short} ${long}`), { limits });
  for (const account of [`accounts show ${id}`, `sub-accounts show ${id} ${subId}`])
    t.match(await text(account), /limits +5 a second, 9 at once, 70 a minute, 80 a day, 1000 a month/);
  t.match(await json(`accounts update ${id} --no-requests-per-second --no-burst`), {
    limits: { ...limits, requests_per_second: null, burst: null },
  });
  t.match(await json(`sub-accounts create ${id} Limited ${long}`), {
    limits: { requests_per_day: 80, requests_per_month: 1_000 },
  });
  const limited = await json(`keys create ${id} --name limited ${short}`);
  t.match(limited, {
    limits: { ...limits, requests_per_day: null, requests_per_month: null, units_per_month: null },
  });
  const keyId = String(limited['id']);
  t.match(await text(`keys update ${keyId} --no-burst`), /Limits: 5 a second/);
  t.match(await text(`keys show ${keyId}`), /limits +5 a second/);

  for (const [line, code, stderr] of [
    [`accounts update ${id} --max-api-keys many`, 64, /max-api-keys/],
    [`accounts update ${id}`, 64, /nothing to change/],
    [`sub-accounts update ${id} ${subId}`, 64, /nothing to change/],
    [`keys update ${keyId} ${long}`, 64, /--requests-per-day/],
    [`accounts create B --id ${id}`, 1, /The id is taken/],
  ] as const)
    t.match(await run(line), { code, stderr }, line);
});
