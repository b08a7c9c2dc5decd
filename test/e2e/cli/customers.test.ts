// class: app
/** Parents and sub-accounts under the ids, names and limits that an operator gives them. */
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { commandLine } from '../../support/command-line.ts';
import { startReplicas } from '../../support/replicas.ts';

t.test('customers come with ids and names of their own, from the command line', async (t) => {
  const { internalOrigin } = await startReplicas(t);
  const env = { INTERNAL_PORT: new URL(internalOrigin).port, ADMIN_TOKEN: operatorToken };
  const json = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await commandLine(env, '--json', ...args);
    if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const text = async (...args: readonly string[]): Promise<string> =>
    (await commandLine(env, ...args)).stdout;

  const [id, subId] = ['6a1c3d5e-0000-4000-8000-00000000000a', '6a1c3d5e-0000-4000-8000-00000000000b'];
  t.match(
    await json(
      'accounts',
      'create',
      'Acme',
      '--id',
      id,
      '--external-id',
      'cus_1',
      '--metadata',
      'plan=gold',
      'k=',
    ),
    { id, name: 'Acme', external_id: 'cus_1', metadata: { plan: 'gold', k: '' } },
  );
  const created = [
    'sub-accounts',
    'create',
    id,
    'Ada',
    '--id',
    subId,
    '--external-id',
    'ada',
    '--metadata',
    'a=b=c',
  ];
  t.match(await json(...created), { id: subId, external_id: 'ada', metadata: { a: 'b=c' } });
  t.match(await json('accounts', 'update', id, '--name', 'Acme Ltd', '--metadata', 'k', 'plan=silver'), {
    name: 'Acme Ltd',
    external_id: 'cus_1',
    metadata: { plan: 'silver' },
  });

  t.match(
    await text('accounts', 'list', '--name-start', 'acme l', '--status', 'active'),
    /Acme Ltd +active +cus_1/,
  );
  t.match(await json('accounts', 'list', '--external-id', 'cus_2'), { data: [] });
  t.match(
    await text('sub-accounts', 'list', id, '--metadata', 'a=b=c', '--external-id', 'ada'),
    /Ada +active +ada/,
  );
  t.match(await text('sub-accounts', 'list', id, '--metadata', 'a=b'), /no such sub-accounts/);
  t.match(await text('sub-accounts', 'deactivate', id, subId), /status +deactivated/);
  t.match(await json('sub-accounts', 'list', id, '--status', 'deactivated'), { data: [{ id: subId }] });
  t.match(await json('sub-accounts', 'reactivate', id, subId), { status: 'active' });
  t.match(await json('accounts', 'update', id, '--no-external-id'), { external_id: null });
  t.match(await json('accounts', 'update', id, '--max-sub-accounts', '0', '--max-api-keys', '7'), {
    max_sub_accounts: 0,
    max_api_keys: 7,
  });
  t.match(await commandLine(env, 'accounts', 'show', id), {
    stdout: /most sub-accounts +0\nmost API keys +7/,
  });
  t.match(await json('accounts', 'update', id, '--no-max-sub-accounts', '--no-max-api-keys'), {
    max_sub_accounts: null,
    max_api_keys: null,
  });
  t.match(await commandLine(env, 'accounts', 'update', id, '--max-api-keys', 'many'), { code: 64 });
  const limits = {
    ...{ requests_per_second: 5, burst: 9, requests_per_minute: 70 },
    ...{ requests_per_day: 80, requests_per_month: 1_000 },
  };
  const given = ['--requests-per-second', '5', '--burst', '9', '--requests-per-minute', '70'];
  const month = ['--requests-per-day', '80', '--requests-per-month', '1000'];
  t.match(await json('accounts', 'update', id, ...given, ...month), { limits });
  t.match(
    await text('accounts', 'show', id),
    /limits +5 a second, 9 at once, 70 a minute, 80 a day, 1000 a month/,
  );
  t.match(await json('accounts', 'update', id, '--no-requests-per-second', '--no-burst'), {
    limits: { ...limits, requests_per_second: null, burst: null },
  });
  t.match(await json('sub-accounts', 'update', id, subId, ...given, ...month), { limits });
  t.match(
    await text('sub-accounts', 'show', id, subId),
    /limits +5 a second, 9 at once, 70 a minute, 80 a day, 1000 a month/,
  );
  t.match(await json('sub-accounts', 'create', id, 'Limited', ...month), {
    limits: { requests_per_day: 80, requests_per_month: 1_000 },
  });
  t.match(await commandLine(env, 'sub-accounts', 'update', id, subId), {
    code: 64,
    stderr: /nothing to change/,
  });
  const limited = await json('keys', 'create', id, '--name', 'limited', ...given);
  const limitedId = String((limited as { id: string }).id);
  t.match(limited, {
    limits: { ...limits, requests_per_day: null, requests_per_month: null, units_per_month: null },
  });
  t.match(await text('keys', 'update', limitedId, '--no-burst'), /Limits: 5 a second/);
  t.match(await text('keys', 'show', limitedId), /limits +5 a second/);
  t.match(await commandLine(env, 'keys', 'update', limitedId, ...month), { code: 64 });

  t.match(await commandLine(env, 'accounts', 'update', id), { code: 64, stderr: /nothing to change/ });
  t.match(await commandLine(env, 'accounts', 'create', 'B', '--id', id), {
    code: 1,
    stderr: /The id is taken/,
  });
});
