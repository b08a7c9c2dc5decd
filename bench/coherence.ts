/**
 * What coherence costs: a decision from memory, and the wait of a revoke for three replicas.
 *
 *     npm run bench:coherence -- [--known 1000 --known 1000000] [--revokes 300]
 *
 * The second needs a Redis server; `--revokes 0` leaves it out.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startCoherence, type Coherence } from '../src/coherence/coherence.ts';
import { noFactCache } from '../src/coherence/no-fact-cache.ts';
import { decide, factsNeeded, rejectingFacts } from '../src/domain/acting-decision.ts';
import { digestSecret, formatSecret, parseApiKey, secretRandomBytes } from '../src/domain/api-key.ts';
import type { AccountId, KeyId } from '../src/domain/ids.ts';
import { authenticate } from '../src/authz/authenticate.ts';
import { systemClock } from '../src/ports/clock.ts';
import type { CoherenceLog } from '../src/ports/coherence-log.ts';
import { decideWithLookups, MissingFact, type Facts } from '../src/ports/directory.ts';
import { factKey, type FactKey, type FactSource, type FactValue } from '../src/ports/facts.ts';
import { systemTimers } from '../src/ports/timers.ts';
import { revokeLatency } from './lib/revoke-latency.ts';

const { values } = parseArgs({
  options: {
    known: { type: 'string', multiple: true, default: ['1000', '1000000'] },
    revokes: { type: 'string', default: '300' },
  },
});

for (const known of values.known) await measureDecisions(Number(known));
if (Number(values.revokes) > 0) await revokeLatency(Number(values.revokes), say);
process.exit();

/** Decisions by keys of sub-accounts, drawn at random; from all that are known is the worst for processor caches. */
async function measureDecisions(known: number): Promise<void> {
  const { keys, facts } = population(known);
  const beforeMb = heapMb();
  const operations = { count: 0 };
  const coherence = startCoherence({
    log: countedLog(operations),
    source: countedSource(facts, operations),
    cache: noFactCache,
    clock: systemClock,
    timers: systemTimers,
    // Renewals have a rhythm of their own; here only what decisions cause is to be counted.
    config: { leaseMs: 3_600_000, streamsMs: 0, maxFacts: facts.size },
    logger: { info: () => undefined, warn: () => undefined },
    randomId: () => randomBytes(8).toString('hex'),
  });
  while (!coherence.ready()) await new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < keys.length; i += 1_000) {
    await Promise.all(keys.slice(i, i + 1_000).map((key) => decided(coherence, key)));
  }

  const heldMb = heapMb() - beforeMb;
  say(
    `${known} known keys, ${facts.size} facts: ${heldMb.toFixed(1)} MiB of heap, ` +
      `${((heldMb * 2 ** 20) / facts.size).toFixed(0)} bytes a fact`,
  );
  for (const inUse of new Set([Math.min(known, 1_000), known])) {
    // Copies, one after another: a request's key is in the processor's caches, having just been read from a socket.
    const sent = Array.from({ length: 1_000_000 }, () =>
      copied(keys[Math.floor(Math.random() * inUse)] as string),
    );
    const before = operations.count;
    const hash = perCall(sent, (key) => digestSecret(parseApiKey(key) as never));
    let permitted = 0;
    const whole = perCall(sent, (key) => {
      if (coherence.directory.decide(decision(key)) === true) permitted += 1;
    });
    say(
      `  ${inUse} of them in use: a decision takes ${whole.toFixed(2)} µs, reading and hashing the key ` +
        `${hash.toFixed(2)} µs of it; ${operations.count - before} network operations in ${permitted} decisions`,
    );
  }
  await coherence.stop();
}

/** After a collection, so that what is counted is held. */
function heapMb(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Five rounds over all keys; the microseconds of processor time of one call in the best of them. */
function perCall(keys: readonly string[], call: (key: string) => unknown): number {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const began = process.cpuUsage();
    for (const key of keys) call(key);
    const { user, system } = process.cpuUsage(began);
    best = Math.min(best, (user + system) / keys.length);
  }
  return best;
}

function copied(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

function decided(coherence: Coherence, key: string): Promise<boolean> {
  return decideWithLookups(coherence.directory, decision(key));
}

/** What the gateway decides about a request with this key and no acting header. */
function decision(key: string): (facts: Facts) => boolean | MissingFact {
  const digest = digestSecret(parseApiKey(key) as never);
  const header = { form: 'absent' } as const;
  return (facts) => {
    const authentication = authenticate(facts, digest, systemClock.wallMs());
    if (authentication instanceof MissingFact) return authentication;
    if ('problem' in authentication) throw new Error(authentication.problem.code);
    const { caller } = authentication;
    if (factsNeeded(caller, header, 'write').fact !== 'none')
      throw new Error('a sub-account needs no more facts');
    return decide(caller, header, 'write', rejectingFacts, 'X').kind === 'permit';
  };
}

/** Ten keys a sub-account, a hundred sub-accounts a parent. */
function population(known: number) {
  const facts = new Map<FactKey, FactValue>();
  const keys: string[] = [];
  for (let i = 0; i < known; i++) {
    const key = formatSecret('tgw', randomBytes(secretRandomBytes));
    const parent = id('b', Math.floor(i / 1_000));
    const account = id('a', Math.floor(i / 10));
    keys.push(key);
    const keyId = id('c', i) as string as KeyId;
    facts.set(factKey.key(digestSecret(key)), {
      keyId,
      accountId: account,
      scopes: ['tracking:read'],
      expiresAtMs: null,
      revoked: false,
      limits: null,
      limitId: keyId,
    });
    facts.set(factKey.account(account), {
      id: account,
      parentId: parent,
      externalId: null,
      status: 'active',
      limits: null,
      plan: null,
    });
    facts.set(factKey.account(parent), {
      id: parent,
      parentId: null,
      externalId: null,
      status: 'active',
      limits: null,
      plan: null,
    });
  }
  return { keys, facts };
}

function id(first: string, number: number): AccountId {
  return `${first}0000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}` as AccountId;
}

function countedSource(facts: ReadonlyMap<FactKey, FactValue>, operations: { count: number }): FactSource {
  return {
    readFacts: async (asked) => {
      operations.count += 1;
      const read = new Map<FactKey, FactValue>();
      // As a driver does: text of its own for every value.
      for (const key of asked) read.set(key, JSON.parse(JSON.stringify(facts.get(key) ?? null)) as FactValue);
      return { seq: 0, incarnation: 'i', facts: read };
    },
  };
}

function countedLog(operations: { count: number }): CoherenceLog {
  const counted = async (): Promise<void> => void (operations.count += 1);
  return {
    register: () => counted().then(() => ({ acked: 0, nowMs: Date.now() })),
    ack: counted,
    noteComplete: counted,
    removeReplica: counted,
    prune: async () => (await counted(), false),
    onHint: () => undefined,
    readAfter: async () => (await counted(), { incarnation: 'i', seq: 0, through: 0, floor: 1, entries: [] }),
    replicas: async () => (await counted(), { incarnation: 'i', complete: true, seq: 0, rows: [] }),
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
