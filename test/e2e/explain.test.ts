// class: real
/** Explanations against what the gateway does: random callers, methods, paths and acting headers, on a whole gateway. */
import { once } from 'node:events';
import { Agent, request as sendRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import t from 'tap';
import { operatorToken, type Parent } from '../support/apis.ts';
import { actings, bodyFor, managementPath, ordinaryPath, randomFrom } from '../support/random-calls.ts';
import { startReplicas } from '../support/replicas.ts';

/** Requests to compare. */
const cases = Number(process.env['EXPLAIN_CASES'] ?? 3_000);
const seed = Number(process.env['EXPLAIN_SEED'] ?? 1);

interface Caller {
  readonly name: string;
  readonly key: string;
  readonly keyId: string;
}

interface Sent {
  readonly status: number;
  readonly code: string | null;
  readonly tenant: string | null;
}

t.test(`${cases} explanations say what the gateway then does`, { timeout: 3_600_000 }, async (t) => {
  const replicas = await startReplicas(t, 'route_defaults: { scopes: { write: "orders:write" } }\n');
  const { parent: makeParent, origin, internalOrigin } = replicas;
  const all = ['sub_accounts:read', 'sub_accounts:write', 'orders:write'];
  const [parent, reader, alone] = [
    await makeParent(all),
    await makeParent(['sub_accounts:read']),
    await makeParent(all),
  ];
  const [active, other, deactivated] = [
    await parent.create({ name: 'A', external_id: 'a' }),
    await parent.create({ name: 'C', external_id: 'c' }),
    await parent.create({ name: 'B', external_id: 'b' }),
  ];
  const callers: Caller[] = [
    { name: 'parent', ...parent },
    { name: 'reader', ...reader },
    { name: 'alone', ...alone },
  ];
  // So few that some are rejected, and so many that most are not.
  const limits = { limits: { requests_per_second: 20 } };
  t.equal((await replicas.operator('PATCH', `/accounts/${alone.id}`, { body: limits })).status, 200);
  /** Keys of sub-accounts; those before are revoked, by what is sent or in the end here. */
  const remint = async (): Promise<void> => {
    for (const [i, { id }] of [active, other, deactivated].entries())
      callers[3 + i] = { name: `sub ${i}`, ...(await mint(parent, id, i === 1 ? [] : ['orders:write'])) };
  };
  await remint();
  await deactivated.act('deactivate');

  const ids = [active.id, other.id, deactivated.id, parent.id, alone.id, crypto.randomUUID(), 'not-an-id'];
  const keyIds = () => [...callers.map(({ keyId }) => keyId), crypto.randomUUID(), 'x'];
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const draw = () => ({
    caller: pick(callers),
    method: pick(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path: random() < 0.7 ? managementPath(random, pick, ids, keyIds()) : ordinaryPath(random, pick),
    acting: random() < 0.5 ? undefined : pick([...actings, ...ids, ...ids.map((id) => id.toUpperCase())]),
  });

  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const differences: unknown[] = [];
  const outcomes = new Map<string, number>();
  let drawn = 0;
  // One after the other: what is sent takes effect, and would change what another explanation is about.
  for (; drawn < cases && differences.length < 10; drawn++) {
    if (drawn % 500 === 499) await remint();
    // The runner takes a file without any assertion for stuck.
    if (drawn % 2_000 === 1_999) t.same(differences, [], `${drawn + 1} compared`);
    const { caller, method, path, acting } = draw();
    const question = {
      key_id: caller.keyId,
      method,
      path,
      ...(acting === undefined ? {} : { acting_tenant: acting }),
    };
    const explained = await send(
      agent,
      `${internalOrigin}/admin/v1/explain`,
      'POST',
      operatorToken,
      question,
    );
    const { allowed, acts_as: tenant, reason, status } = explained.body as Record<string, unknown>;
    const real = await sentTo(agent, `${origin}${path}`, method, caller.key, acting, bodyFor(method, path));
    // What is left of a limit is another number at the other replica, and a moment later: that it is full is no difference.
    const same = fits(allowed === true, reason, status, tenant, method, real);
    if (!same)
      differences.push({ caller: caller.name, method, path, acting, explained: explained.body, real });
    outcomes.set(String(reason), (outcomes.get(String(reason)) ?? 0) + 1);
  }
  t.same(differences, []);
  t.comment(`seed ${seed}: ${JSON.stringify(Object.fromEntries(outcomes))}`);
  for (const reason of [
    'not_found',
    'method_not_allowed',
    'parent_key_required',
    'insufficient_scope',
    'self',
  ])
    t.ok((outcomes.get(reason) ?? 0) > cases / 1_000, reason);
});

/** What may keep an allowed call from taking effect: an explanation knows its body as little as how many accounts and keys there are. */
const afterwards = new Set(['limit_reached', 'rate_limited']);

/** Whether a request became of what the explanation said. */
function fits(
  allowed: boolean,
  reason: unknown,
  status: unknown,
  tenant: unknown,
  method: string,
  real: Sent,
): boolean {
  if (allowed) return real.tenant === tenant && (real.code === null || afterwards.has(real.code));
  if (reason === 'rate_limited') return real.tenant !== null;
  return real.status === status && (method === 'HEAD' || real.code === reason);
}

async function mint(parent: Parent, id: string, scopes: string[]): Promise<{ key: string; keyId: string }> {
  // Revoked keys do not count: there is always room for one more.
  const { data } = (await parent.call('GET', `/${id}/api-keys?limit=100`)).body as {
    data: { id: string; status: string }[];
  };
  for (const key of data)
    if (key.status === 'active') await parent.call('POST', `/${id}/api-keys/${key.id}/revoke`);
  const { body } = await parent.call('POST', `/${id}/api-keys`, { body: { name: 'k', scopes } });
  return { key: String(body['api_key']), keyId: String(body['id']) };
}

async function sentTo(
  agent: Agent,
  url: string,
  method: string,
  key: string,
  acting: string | undefined,
  sentBody: object | undefined,
): Promise<Sent> {
  const headers = acting === undefined ? {} : { 'x-service-acting-tenant': acting };
  const { status, body, tenant } = await send(agent, url, method, key, sentBody, headers);
  return { status, code: (body as { code?: string } | null)?.code ?? null, tenant };
}

async function send(
  agent: Agent,
  url: string,
  method: string,
  key: string,
  body?: object,
  more: Record<string, string> = {},
): Promise<{ status: number; body: unknown; tenant: string | null }> {
  const { origin } = new URL(url);
  const request = sendRequest(origin, {
    agent,
    method,
    // As it is written: an URL object would tidy it up.
    path: url.slice(origin.length),
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    },
  });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const parsed: unknown = await json(response).catch(() => null);
  const tenant = response.headers['x-service-resolved-tenant'];
  return {
    status: response.statusCode ?? 0,
    body: parsed,
    tenant: typeof tenant === 'string' ? tenant : null,
  };
}
