// class: real
/** Every status and code of every operation that the documents have, produced by a gateway and held against the documents. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { catalogue, ProblemError, type ProblemCode } from '../../../src/domain/problem.ts';
import { startApis, type Apis } from '../../support/apis.ts';
import { systemClock } from '../../../src/ports/clock.ts';
import type { UsageReplay } from '../../../src/ports/usage/replay.ts';
import { documentedOperations, type Json, type Operation } from '../../support/openapi.ts';
import { freshStore, rawSql } from '../../support/store.ts';
import { makeWorld, type Sent } from '../../support/openapi-world.ts';
import { httpClient, type HttpResponse } from '../../support/http-client.ts';
import { rawRequest, requestText } from '../../support/raw-client.ts';

const operations = documentedOperations();

/** What fails inside; `null` while all works. */
let failure: Error | null = null;
const failing = <T extends object>(real: T): T =>
  new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (failure === null) return Reflect.apply(value, target, args) as unknown;
        if (name === 'ownId' || name === 'lookUp') throw failure;
        // Facts that are not in memory are looked up, which fails.
        if (name === 'decide') return undefined;
        const rejected = Promise.reject(failure);
        rejected.catch(() => undefined);
        return rejected;
      };
    },
  });

let nowMs = (): number => Date.now();
const clock = { ...systemClock, wallMs: () => nowMs() };
/** Nothing is exported here; how it is, is tested where that is done. */
const usageReplay: UsageReplay = {
  closedUntil: () => Promise.resolve(Date.now()),
  replay: () => Promise.resolve({ events: [], rejected: [], next: null }),
};
const { store, url } = await freshStore(t);
const viewerToken = 'token-of-a-viewer-0123456789abcdef';
/** The silent replica that the example of `forgetUsage` names. */
await rawSql(t, url)`insert into usage_journal (id, host, through, at)
  values (${randomUUID()}, 'tenancy-gateway-6c9f7d5b8-x2x9q', now(), now() - interval '2 minutes')`;
const usual = await startApis(t, {
  store,
  portal: {},
  around: failing,
  clock,
  deps: { usageReplay: failing(usageReplay) },
  adminTokens: { viewer: { token: viewerToken, role: 'viewer' } },
});
/** For heads that do not arrive in time: no other call is to be late. */
const impatient = await startApis(t, { store, limits: { headTimeoutMs: 300 } });
const strict = await startApis(t, { requireActingHeader: true, store });
const full = await startApis(t, {
  store,
  portal: {},
  limits: { subAccountsPerParent: 0, keysPerAccount: 0 },
  mostTails: 0,
});
const internal = httpClient(t, usual.internalOrigin);
const world = await makeWorld(usual, async (agoMs, act) => {
  nowMs = () => Date.now() - agoMs;
  return act().finally(() => (nowMs = () => Date.now()));
});

const seen = new Map<Operation, Set<string>>(operations.map((operation) => [operation, new Set()]));

/** Sends a call, and holds what comes back against the document. */
async function outcome(
  operation: Operation,
  sent: Sent,
  { apis = usual, more = {} }: { readonly apis?: Apis; readonly more?: Partial<Sent> } = {},
): Promise<string> {
  const { path, key, headers, body } = { ...sent, ...more };
  const response = await callOf(operation, apis, key === undefined && headers !== undefined)(
    operation.method,
    path,
    {
      ...(key === undefined ? {} : { key }),
      headers: headers ?? {},
      ...(body === undefined ? {} : { body }),
    },
  );
  return noted(operation, response);
}

function noted(operation: Operation, response: HttpResponse): string {
  const faults = operation.faultsOf(response);
  const { code = null } = response.body as { readonly code?: string };
  const what = `${response.status} ${code}`;
  if (faults.length > 0) t.fail(`${operation.id}: ${what}`, { faults, body: response.body });
  seen.get(operation)?.add(what);
  return what;
}

/** @param withoutToken for a session, which a token would go before */
function callOf({ api }: Operation, apis: Apis, withoutToken: boolean): Apis['call'] {
  if (api === 'parents') return apis.call;
  if (withoutToken) return internal;
  return (method, path, more) => apis.operator(method, path.slice('/admin/v1'.length), { key: '', ...more });
}

t.test('what every operation may say whatever it does', async (t) => {
  const { sub, revoked, expired, suspended, deactivated, narrow } = world.keys;
  for (const operation of operations) {
    const sent = await world.callOf(operation);
    const { path } = sent;
    const withKey = (key: string | undefined) => outcome(operation, sent, { more: { key: key as string } });
    await outcome(operation, { ...sent, path: `${path}${path.includes('?') ? '&' : '?'}nope=1` });
    await outcome(operation, { ...sent, path: `${path.split('?')[0]}%` });
    await outcome(operation, { ...sent, headers: { ...sent.headers, 'x-long': 'x'.repeat(70_000) } });
    await outcome(operation, { path, body: sent.body });
    await outcome(operation, { ...sent, headers: { ...sent.headers, expect: 'something' } });
    if (operation.api === 'parents') {
      for (const key of ['nonsense-nonsense-nonsense', revoked, expired, suspended, deactivated, sub, narrow])
        await withKey(key);
      for (const acting of ['ext:none', 'nonsense'])
        await outcome(operation, {
          ...sent,
          headers: { ...sent.headers, 'x-service-acting-tenant': acting },
        });
      if (operation.method !== 'GET')
        await outcome(operation, await world.callOf(operation), { apis: strict });
    }
    if (operation.outcomes.some(([, code]) => code === 'insufficient_role')) await withKey(viewerToken);
    if (operation.method !== 'GET') await tooLarge(operation, sent);
    if (operation.body !== undefined)
      await outcome(operation, { ...sent, headers: { ...sent.headers, 'content-type': 'text/plain' } });
  }
  t.pass();
});

/** By its Content-Length alone. */
async function tooLarge(operation: Operation, { path, key, headers = {} }: Sent): Promise<void> {
  const { port } = new URL(operation.api === 'parents' ? usual.origin : usual.internalOrigin);
  const fields: [string, string][] = [
    ...(key === undefined ? [] : [['Authorization', `Bearer ${key}`] as [string, string]]),
    ['Content-Type', 'application/json'],
    ['Content-Length', '9000000'],
    ...Object.entries(headers),
  ];
  noted(operation, fromRaw(await rawRequest(t, Number(port), requestText(operation.method, path, fields))));
}

t.test('heads that do not arrive in time', async (t) => {
  await Promise.all(
    operations.map(async (operation) => {
      const { port } = new URL(operation.api === 'parents' ? impatient.origin : impatient.internalOrigin);
      const head = `${operation.method} ${operation.path.replaceAll(/\{\w+\}/g, 'x')} HTTP/1.1\r\nHost: x\r\n`;
      noted(operation, fromRaw(await rawRequest(t, Number(port), head)));
    }),
  );
  t.pass();
});

function fromRaw({ status, headers, body }: Awaited<ReturnType<typeof rawRequest>>): HttpResponse {
  return { status, headers, text: body, body: JSON.parse(body) as Json };
}

t.test('what fails inside', async (t) => {
  const codes: readonly ProblemCode[] = [
    'unavailable',
    'overloaded',
    'too_many_requests',
    'idempotency_in_flight',
    'upstream_unreachable',
  ];
  const failures = [
    ...codes.map(
      (code) =>
        new ProblemError({
          code,
          detail: 'It is so for a test.',
          ...(code !== 'upstream_unreachable' && { retryAfter: 1 }),
        }),
    ),
    new TypeError('for a test'),
  ];
  for (const operation of operations) {
    const sent = await world.callOf(operation);
    const documented = operation.outcomes.map(([, code]) => code);
    for (const each of failures) {
      const code = each instanceof ProblemError ? each.problem.code : 'internal';
      if (!documented.includes(code)) continue;
      failure = each;
      await outcome(operation, sent).finally(() => (failure = null));
    }
  }
  t.pass();
});

t.test('what is not there, what is taken, what is used up, and what works', async (t) => {
  for (const operation of operations) {
    for (const sent of await world.rejectedCallsOf(operation))
      await outcome(operation, sent, sent.full === true ? { apis: full } : {});
    if (operation.outcomes.some(([, code]) => code === 'idempotency_mismatch')) {
      const headers = { 'idempotency-key': randomUUID() };
      const [first, second] = [await world.callOf(operation), await world.callOf(operation)];
      await outcome(operation, { ...first, headers });
      await outcome(operation, { ...first, headers });
      await outcome(operation, { ...second, headers });
    }
    for (const sent of await world.goodCallsOf(operation)) await outcome(operation, sent);
  }
  t.pass();
});

t.test('every documented status and code was produced, and nothing else', async (t) => {
  for (const [operation, outcomes] of seen) {
    const documented = operation.outcomes.map(([status, code]) => `${status} ${code}`);
    t.same(
      documented.filter((one) => !outcomes.has(one)),
      [],
      `${operation.id}: not produced`,
    );
    t.same(
      [...outcomes].filter((one) => !documented.includes(one)),
      [],
      `${operation.id}: not documented`,
    );
  }
  t.ok(Object.keys(catalogue).length > 0);
  t.comment(
    `${operations.length} operations, ${[...seen.values()].reduce((n, each) => n + each.size, 0)} outcomes`,
  );
});
