/**
 * Measures what events cost changes, through the very store the gateway uses, on a PostgreSQL of its own that writes
 * through to the disk: two databases, one of them without the triggers, in turns.
 *
 *     npm run bench:events
 */
import { randomBytes } from 'node:crypto';
import { connectByUrl } from '../src/adapters/postgres/connection/sql.ts';
import { openPostgres, type Store } from '../src/adapters/postgres/store.ts';
import { digestSecret } from '../src/domain/api-key.ts';
import { uuidV7, type AccountId, type KeyId } from '../src/domain/ids.ts';
import type { NewApiKey } from '../src/ports/api-keys.ts';
import type { TenantStore } from '../src/ports/tenant-store.ts';
import { startPostgres } from './lib/postgres-server.ts';

const rounds = 9;
const changesOfRound = 150;
const atOnce = 8;
const noLimit = 1_000_000;

type Kind = 'without' | 'with';

const server = await startPostgres(process.env['TEST_POSTGRES_BIN'] ?? '/usr/lib/postgresql/15/bin');
try {
  const stores = { without: await open('without'), with: await open('with') };
  const took = new Map<string, Record<Kind, number[]>>();
  for (let round = 0; round <= rounds; round += 1) {
    const order: readonly Kind[] = round % 2 === 0 ? ['without', 'with'] : ['with', 'without'];
    for (const kind of order) {
      for (const [what, ms] of await measure(stores[kind].tenants)) {
        const both = took.get(what) ?? { without: [], with: [] };
        took.set(what, both);
        // The first round warms up.
        if (round > 0) both[kind].push(ms);
      }
    }
  }
  console.log(`Milliseconds a change, medians of ${rounds} rounds of ${changesOfRound}.\n`);
  console.log(['change', 'without events', 'with events'].join('\t'));
  for (const [what, times] of took)
    console.log([what, median(times.without).toFixed(2), median(times.with).toFixed(2)].join('\t'));
  for (const store of Object.values(stores)) await store.close();
} finally {
  await server.stop();
}

async function open(kind: Kind): Promise<Store> {
  const url = new URL(server.url);
  const admin = connectByUrl(url.href, 60_000)();
  await admin.unsafe(`create database events_${kind}`);
  await admin.end();
  url.pathname = `/events_${kind}`;
  const store = openPostgres({ url: url.href, maxConnections: 2 * atOnce });
  await store.migrate();
  const sql = connectByUrl(url.href, 60_000)();
  if (kind === 'without')
    await sql.unsafe(`
      drop trigger account_event_on_insert on account; drop trigger account_event_on_update on account;
      drop trigger api_key_event_on_insert on api_key; drop trigger api_key_event_on_update on api_key`);
  await sql.end();
  return store;
}

/** Makes changes of every kind under new parents. Returns milliseconds a change. */
async function measure(tenants: TenantStore): Promise<ReadonlyMap<string, number>> {
  const [parent, ...others] = await Promise.all(
    Array.from({ length: atOnce + 1 }, async () => {
      const id = newId() as AccountId;
      await tenants.createParent({ id, name: 'Parent' });
      return id;
    }),
  );
  if (parent === undefined) throw new Error('no parent');
  const caller = { accountId: parent, keyId: newId() as KeyId, requestId: randomBytes(16).toString('hex') };
  await tenants.createKey(parent, { ...newKey(), id: caller.keyId }, noLimit);
  const by = { ...caller, address: '192.0.2.1' };

  const subs: AccountId[] = [];
  const keys: (readonly [AccountId, KeyId])[] = [];
  const create = async (of: AccountId): Promise<void> => {
    const id = newId() as AccountId;
    const draft = { id, name: 'Sub', externalId: null, metadata: {} };
    await tenants.createSubAccount(of, draft, noLimit, null, of === parent ? by : undefined);
    if (of === parent) subs.push(id);
  };
  const mint = async (i: number): Promise<void> => {
    const [sub, key] = [subs[i % subs.length] as AccountId, newKey()];
    await tenants.createKey(sub, key, noLimit, null, by);
    keys.push([sub, key.id]);
  };
  const revoke = async (): Promise<void> => {
    const [sub, key] = keys.pop() ?? [];
    if (sub && key) await tenants.revokeKey(sub, key, null, by);
  };
  const taken = new Map<string, number>();
  const timed = async (what: string, width: number, change: (i: number) => Promise<void>): Promise<void> => {
    const began = performance.now();
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < changesOfRound) await change(next++);
    };
    await Promise.all(Array.from({ length: width }, worker));
    taken.set(what, (performance.now() - began) / changesOfRound);
  };
  await timed('create, one at a time', 1, () => create(parent));
  await timed('mint, one at a time', 1, mint);
  await timed('revoke, one at a time', 1, revoke);
  await timed(`mint, ${atOnce} at a time, one parent`, atOnce, mint);
  await timed(`revoke, ${atOnce} at a time, one parent`, atOnce, revoke);
  await timed(`create, ${atOnce} at a time, ${atOnce} parents`, atOnce, (i) =>
    create(others[i % atOnce] as AccountId),
  );
  const imported = Array.from({ length: 1_000 }, () => {
    const { clientSecretDigest: _secret, ...key } = newKey();
    return { ...key, owner: parent };
  });
  const began = performance.now();
  await tenants.importKeys(parent, imported, noLimit);
  return taken.set('import of 1,000 keys', performance.now() - began);
}

function newKey(): NewApiKey {
  const digest = () => digestSecret(randomBytes(24).toString('hex'));
  const hints = { prefix: 'tgw_abcd', last4: 'wxyz' };
  const id = newId() as KeyId;
  return {
    id,
    name: 'Key',
    scopes: [],
    digest: digest(),
    clientSecretDigest: digest(),
    expiresAt: null,
    ...hints,
  };
}

function newId(): string {
  return uuidV7(Date.now(), randomBytes(10));
}

function median(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN;
}
