/**
 * Tenants that change all the time, each in a way of its own, and what a request shows about them. One writer changes
 * an object at a time. Once an attempt at a change was lost, the object stays as it is: the lost one may come true
 * at any later moment, and what is the case could no longer be told.
 */
import type { Random } from '../../../support/coherence/random.ts';
import { anything } from '../../../support/coherence/staleness.ts';
import type { HttpResponse, HttpClient } from './http-client.ts';
import { now, type History } from './history.ts';
import type { Asked } from './replica.ts';
import type { Done, Parent, Tenants } from './tenants.ts';

/** A request that shows the state of one object. */
export interface Probe {
  readonly object: string;
  send(client: HttpClient): Promise<HttpResponse | undefined>;
  /** What a decided response means, by its problem code or `200`; a response that is not listed is odd. */
  readonly means: Readonly<Record<string, string>>;
  /** The state is the tenant that the upstream was told, not what `200` means. */
  readonly byTenant?: boolean;
  /** The state is the limit that `RateLimit-Policy` tells, not what `200` means. */
  readonly byPolicy?: boolean;
}

export interface CellParts {
  readonly tenants: Tenants;
  readonly history: History;
  readonly random: Random;
  readonly stopped: () => boolean;
  /** Sends the probes to every replica at once: right after a 2xx is when a stale replica shows. */
  readonly burst: (probes: readonly Probe[]) => void;
  /**
   * Opens streams through every replica; `null` where that is not asked for.
   *
   * @param onPassed called for each piece that reaches a client or the service
   */
  readonly openStreams: ((key: string, onPassed: () => void) => void) | null;
  /** Changes the database by hand; `null` where that is not asked for. */
  readonly byHand: ByHand | null;
}

export interface ByHand {
  /** Runs a statement. Resolves to whether it is known to be committed. */
  run(statement: string): Promise<boolean>;
  /** After this every replica has to decide by it, in milliseconds. */
  readonly enforcedMs: number;
}

/** Changes the tenants until the run is over, telling which probes are worth sending. */
export type Cell = (parts: CellParts, show: (probes: readonly Probe[]) => void) => Promise<void>;

/** Keys: new ones work at once everywhere, revoked ones nowhere. */
const keys: Cell = async (parts, show) => {
  const { tenants, history, stopped } = parts;
  const parent = await tenants.createParent();
  const sub = await tenants.createSubAccount(parent);
  let recent: Probe[] = [];
  while (!stopped()) {
    const { id, key } = await tenants.mint(parent, sub);
    const object = `key ${id}`;
    history.begin(object, 'live');
    const probe = get(object, key, { '200': 'live', api_key_revoked: 'revoked', invalid_api_key: 'unknown' });
    recent = [probe, ...recent].slice(0, 4);
    show(recent);
    parts.burst([probe]);
    await pause(parts, 300);
    const path = `/v1/sub-accounts/${sub}/api-keys/${id}/revoke`;
    await change(parts, object, 'revoked', [probe], () => tenants.insist('POST', path, { key: parent.key }));
  }
};

/** A sub-account that is deactivated and reactivated, acted as and acting itself. */
const status: Cell = async (parts, show) => {
  const { tenants, history } = parts;
  await repeatedly(parts, async () => {
    const parent = await tenants.createParent();
    const [sub] = await Promise.all([tenants.createSubAccount(parent), tenants.createSubAccount(parent)]);
    const { key } = await tenants.mint(parent, sub);
    const object = `sub-account ${sub}`;
    history.begin(object, 'active');
    const probes = [
      get(object, parent.key, { '200': 'active', acting_tenant_deactivated: 'deactivated' }, sub),
      get(object, key, { '200': 'active', account_deactivated: 'deactivated' }),
    ];
    show(probes);
    return async (step) => {
      const [action, value] = step % 2 === 0 ? ['deactivate', 'deactivated'] : ['reactivate', 'active'];
      return change(parts, object, value, probes, () =>
        tenants.insist('POST', `/v1/sub-accounts/${sub}/${action}`, { key: parent.key }),
      );
    };
  });
};

/** The first active sub-account and the last: whether a write must say who it is for. */
const edge: Cell = async (parts, show) => {
  const { tenants, history } = parts;
  await repeatedly(parts, async () => {
    const parent = await tenants.createParent();
    const object = `count of ${parent.id}`;
    history.begin(object, 'none');
    const probes: Probe[] = [
      {
        object,
        send: (client) => client.send('POST', '/shipments', { key: parent.key, body: {} }),
        means: { '200': 'none', acting_tenant_required: 'some' },
      },
    ];
    show(probes);
    parts.burst(probes);
    let sub = '';
    return async (step) => {
      if (step === 0) {
        return change(parts, object, 'some', probes, async () => {
          const created = await tenants.create(parent);
          sub = String(created.body['id']);
          return created;
        });
      }
      const [action, value] = step % 2 === 1 ? ['deactivate', 'none'] : ['reactivate', 'some'];
      return change(parts, object, value, probes, () =>
        tenants.insist('POST', `/v1/sub-accounts/${sub}/${action}`, { key: parent.key }),
      );
    };
  });
};

/** An `external_id` that goes from one sub-account to another, and to one that is made with it. */
const external: Cell = async (parts, show) => {
  const { tenants, history, random } = parts;
  await repeatedly(parts, async (round) => {
    const parent = await tenants.createParent();
    const subs = await Promise.all([tenants.createSubAccount(parent), tenants.createSubAccount(parent)]);
    const name = `customer-${round}`;
    const object = `external_id ${name} of ${parent.id}`;
    history.begin(object, 'unknown');
    const probes = [
      { ...get(object, parent.key, { acting_tenant_unknown: 'unknown' }, `ext:${name}`), byTenant: true },
    ];
    show(probes);
    const give = (sub: string, externalId: string | null): Promise<Done | null> =>
      tenants.insist('PATCH', `/v1/sub-accounts/${sub}`, {
        key: parent.key,
        body: { external_id: externalId },
      });
    let holder: string | undefined;
    return async () => {
      if (holder === undefined) {
        const next = (holder = random.pick(subs));
        return change(parts, object, next, probes, () => give(next, name));
      }
      const before = holder;
      if (random.chance(0.5)) {
        holder = undefined;
        return change(parts, object, 'unknown', probes, () => give(before, null));
      }
      // Given up and taken at once, without waiting for the 2xx of the first: still no client may be told of the old one.
      const givenUp = change(parts, object, 'unknown', [], () => give(before, null));
      const taken = await take(parts, parent, object, name, before, probes);
      const first = await givenUp;
      if (taken === null || first === null) return null;
      holder = String(taken.body['id']);
      subs.push(holder);
      return { ...taken, uncertain: taken.uncertain || first.uncertain };
    };
  });
};

/** A parent that is suspended and resumed, with everything under it. */
const suspension: Cell = async (parts, show) => {
  const { tenants, history } = parts;
  await repeatedly(parts, async () => {
    const parent = await tenants.createParent();
    const sub = await tenants.createSubAccount(parent);
    const { key } = await tenants.mint(parent, sub);
    const object = `parent ${parent.id}`;
    history.begin(object, 'active');
    const means = { '200': 'active', account_suspended: 'suspended' };
    const probes = [
      get(object, parent.key, means),
      get(object, key, means),
      get(object, parent.key, means, sub),
    ];
    show(probes);
    return async (step) => {
      const [action, value] = step % 2 === 0 ? ['suspend', 'suspended'] : ['resume', 'active'];
      return change(parts, object, value, probes, () =>
        tenants.insist(
          'POST',
          `/admin/v1/accounts/${parent.id}/${action}`,
          {},
          (replica) => replica.operator,
        ),
      );
    };
  });
};

/** A sub-account, and a parent with everything under it, that are closed and then deleted. */
const deletion: Cell = async (parts, show) => {
  const { tenants, history, stopped } = parts;
  while (!stopped()) {
    const [owner, parent] = [await tenants.createParent(), await tenants.createParent()];
    const [sub, below] = [await tenants.createSubAccount(owner), await tenants.createSubAccount(parent)];
    const [{ key }, { key: keyBelow }] = [await tenants.mint(owner, sub), await tenants.mint(parent, below)];
    const one = `deletion of sub-account ${sub}`;
    const all = `deletion of parent ${parent.id}`;
    history.begin(one, 'active');
    history.begin(all, 'active');
    const acting = { '200': 'active', acting_tenant_deactivated: 'closed', acting_tenant_unknown: 'deleted' };
    const means = { '200': 'active', account_suspended: 'closed', api_key_revoked: 'deleted' };
    const ofSub = [
      get(one, owner.key, acting, sub),
      get(one, key, { '200': 'active', account_deactivated: 'closed', api_key_revoked: 'deleted' }),
    ];
    const ofParent = [
      get(all, parent.key, means),
      get(all, keyBelow, means),
      get(all, parent.key, means, below),
    ];
    show([...ofSub, ...ofParent]);
    const byOperator = (method: 'POST' | 'DELETE', path: string): Promise<Done | null> =>
      tenants.insist(method, `/admin/v1/accounts/${parent.id}${path}`, {}, (replica) => replica.operator);
    const path = `/v1/sub-accounts/${sub}`;
    const byOwner = { key: owner.key };
    await change(parts, one, 'closed', ofSub, () => tenants.insist('POST', `${path}/deactivate`, byOwner));
    await change(parts, all, 'closed', ofParent, () => byOperator('POST', '/suspend'));
    await change(parts, one, 'deleted', ofSub, () => tenants.insist('DELETE', path, byOwner));
    await change(parts, all, 'deleted', ofParent, () => byOperator('DELETE', ''));
    await pause(parts, 1_000);
  }
};

/** A plan that two parents have: each change of it is one of both. */
const plan: Cell = async (parts, show) => {
  const { tenants, history } = parts;
  const least = 500_000;
  await repeatedly(parts, async (round) => {
    const operator = (replica: Asked) => replica.operator;
    const name = `plan-${round}`;
    const put = (rate: number): Promise<Done | null> =>
      tenants.insist(
        'PUT',
        `/admin/v1/plans/${name}`,
        { body: { limits: { requests_per_second: rate } } },
        operator,
      );
    await put(least);
    const parents = await Promise.all([tenants.createParent(), tenants.createParent()]);
    for (const { id } of parents)
      await tenants.insist('PATCH', `/admin/v1/accounts/${id}`, { body: { plan: name } }, operator);
    const object = `plan ${name}`;
    history.begin(object, String(least));
    const probes = parents.map(({ key }) => ({ ...get(object, key, {}), byPolicy: true }));
    show(probes);
    return async (step) => {
      const rate = least + step + 1;
      return change(parts, object, String(rate), probes, () => put(rate));
    };
  });
};

/** Keys that are revoked by SQL: no 2xx promises that, but the lease bounds it. */
const handRevoked: Cell = async (parts, show) => {
  const { tenants, history, stopped, byHand } = parts;
  if (byHand === null) return;
  while (!stopped()) {
    // An account of its own: each mint whose response is lost leaves a key, and an account may have 1,000.
    const parent = await tenants.createParent();
    const { id, key } = await tenants.mint(parent, await tenants.createSubAccount(parent));
    const object = `key by hand ${id}`;
    history.begin(object, 'live');
    const probe = get(object, key, { '200': 'live', api_key_revoked: 'revoked' });
    show([probe]);
    parts.burst([probe]);
    await pause(parts, 300);
    const pending = history.change(object, 'revoked');
    if (!(await byHand.run(`update api_key set revoked_at = now() where id = '${id}'`))) continue;
    await new Promise((resolve) => setTimeout(resolve, byHand.enforcedMs));
    pending.responded();
    parts.burst([probe]);
    await pause(parts, 300);
  }
};

/** Several keys at a time with streams through every replica, so that a silent one still has some when the next key is revoked. */
const streams: Cell = async (parts) => {
  const { tenants, history, stopped, openStreams } = parts;
  if (openStreams === null) return;
  const parent = await tenants.createParent();
  const sub = await tenants.createSubAccount(parent);
  const open: { readonly object: string; readonly id: string }[] = [];
  while (!stopped()) {
    const { id, key } = await tenants.mint(parent, sub);
    const object = `streams of ${id}`;
    history.begin(object, 'pass');
    openStreams(key, () => {
      history.streamed += 1;
      const at = now();
      history.observe({ object, value: 'pass', began: at, ended: at, by: 'streams' });
    });
    open.push({ object, id });
    await pause(parts, 400);
    if (open.length < 5) continue;
    const oldest = open.shift() as (typeof open)[number];
    const pending = history.change(oldest.object, 'over');
    const path = `/v1/sub-accounts/${sub}/api-keys/${oldest.id}/revoke`;
    const done = await tenants.insist('POST', path, { key: parent.key });
    if (done === null) return;
    // What arrived before the response is read within two turns of the event loop.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    pending.responded();
  }
};

export const cells: readonly Cell[] = [
  ...[keys, status, edge, external, suspension, deletion, plan, handRevoked, streams],
];

/** Makes objects and changes them step by step, until an attempt is lost; then makes new ones. */
async function repeatedly(
  parts: CellParts,
  make: (round: number) => Promise<(step: number) => Promise<Done | null>>,
): Promise<void> {
  for (let round = 0; !parts.stopped(); round++) {
    const change = await make(round);
    for (let step = 0, sure = true; sure && !parts.stopped(); step++) {
      await pause(parts, 150);
      const done = await change(step);
      sure = done !== null && !done.uncertain;
    }
    // A little longer, to see that the last 2xx holds.
    await pause(parts, 1_000);
  }
}

async function change(
  { history, burst }: CellParts,
  object: string,
  value: string,
  probes: readonly Probe[],
  mutate: () => Promise<Done | null>,
): Promise<Done | null> {
  const pending = history.change(object, value);
  const done = await mutate();
  if (done === null) return null;
  pending.responded();
  burst(probes);
  return done;
}

async function take(
  { tenants, history, burst }: CellParts,
  parent: Parent,
  object: string,
  name: string,
  holder: string,
  probes: readonly Probe[],
): Promise<Done | null> {
  const pending = history.change(object, anything);
  const done = await tenants.take(parent, name, holder);
  if (done === null) return null;
  pending.became(String(done.body['id']));
  // Where an attempt was lost it may have made what was found: then no 2xx promises it.
  if (!done.uncertain) pending.responded();
  burst(probes);
  return done;
}

function get(object: string, key: string, means: Readonly<Record<string, string>>, actingAs?: string): Probe {
  const headers = actingAs === undefined ? {} : { 'x-service-acting-tenant': actingAs };
  return { object, send: (client) => client.send('GET', '/shipments', { key, headers }), means };
}

function pause({ random }: CellParts, mostMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, random.between(0.1, 1) * mostMs));
}
