/** One part of the protocol taken out at a time. Each is a mistake that looks harmless. */
import type { CoherenceLog, LogReading, Renewed, ReplicaReading } from '../../../src/ports/coherence-log.ts';
import type { FactCache, StampedFact } from '../../../src/ports/fact-cache.ts';
import type { FactKey, FactReading, Seq } from '../../../src/ports/facts.ts';
import { noFactCache } from '../../../src/coherence/no-fact-cache.ts';
import type { ModelStore } from './model-store.ts';
import type { ProtocolMutation } from './plan.ts';

/** Changes what comes from the shared cache. */
function cached(change: (fact: StampedFact, store: ModelStore) => StampedFact): ProtocolMutation {
  return {
    cache: (cache, store): FactCache => ({
      ...cache,
      get: async (keys) =>
        new Map([...(await cache.get(keys))].map(([key, fact]) => [key, change(fact, store)])),
    }),
  };
}

/** Changes what is read of the log. */
function pages(change: (page: LogReading, store: ModelStore) => LogReading): ProtocolMutation {
  return {
    log: (log, store) => ({
      ...log,
      readAfter: async (after, most) => change(await log.readAfter(after, most), store),
    }),
  };
}

/** Responds to a mutation as soon as it is committed. */
export const skipTheWait: ProtocolMutation = { skipWait: true };

/** Responds "already revoked" at once, though the first revoke may still be on its way. */
export const respondToNoOpsAtOnce: ProtocolMutation = { skipWaitOfNoOps: true };

/** Responds to a create at once, though the `external_id` it takes may still be another one's somewhere. */
export const respondToCreatesAtOnce: ProtocolMutation = { skipWaitOfCreates: true };

/** Reads the log in the transaction that registers: in a snapshot from before the row could be seen. */
export const registerAndReadInOne: ProtocolMutation = {
  log: (log, store, process) => {
    let early: LogReading | undefined;
    let position: Seq | null = null;
    return {
      ...log,
      register: async (replica) => {
        early = await store.call(process, () => store.readLog(position));
        return log.register(replica);
      },
      readAfter: async (after, most) => {
        const reading = early ?? (await log.readAfter(after, most));
        early = undefined;
        position = reading.through;
        return reading;
      },
    };
  },
};

/** Believes whatever the shared cache holds, as if it had been read just now. */
export const believeTheCache = cached((fact, store) => ({ ...fact, seq: store.seq }));

/** Believes stamps from the future, up to which this replica has read nothing. */
export const believeTheFuture = cached((fact, store) => ({ ...fact, seq: Math.min(fact.seq, store.seq) }));

/** Believes a load by when it came, not by when it was read: it may have begun before the lease ran out. */
export const believeOldLoads: ProtocolMutation = {
  source: (source, store) => ({
    readFacts: async (asked) => ({ ...(await source.readFacts(asked)), seq: store.seq }),
  }),
};

/** Lets a request join a load that began before it arrived, and believe its "there is none". */
export const joinOldAbsences: ProtocolMutation = {
  source: (source) => {
    const loads = new Map<FactKey, FactReading>();
    return {
      readFacts: async (asked) => {
        const [key] = asked;
        const known = key && loads.get(key);
        for (const each of asked) loads.delete(each);
        if (asked.length === 1 && key && known?.facts.get(key) === null) return known;
        const reading = await source.readFacts(asked);
        for (const each of asked) loads.set(each, reading);
        return reading;
      },
    };
  },
};

/** Renews under one nonce: to the others it looks like a replica that died after its first renewal. */
export const keepTheNonce: ProtocolMutation = {
  log: (log) => ({ ...log, register: (replica) => log.register({ ...replica, nonce: 'the same' }) }),
};

/** Makes the lease longer without registering that, as if a hint were a renewal. */
export const renewUnregistered: ProtocolMutation = {
  log: (log) => {
    let registered = '';
    let confirmed: Renewed = { acked: 0, nowMs: 0 };
    return {
      ...log,
      register: async (replica) => {
        if (replica.id !== registered) confirmed = await log.register(replica);
        registered = replica.id;
        return confirmed;
      },
    };
  },
};

/** Tells writers of a shorter lease than the replica takes for itself. */
export const understateTheLease: ProtocolMutation = {
  log: (log) => ({
    ...log,
    register: (replica) => log.register({ ...replica, leaseMs: replica.leaseMs / 2 }),
  }),
};

/** Tells writers and collectors of rows nothing of the streams that outlive a lease. */
export const concealTheStreams: ProtocolMutation = {
  log: (log) => ({ ...log, register: (replica) => log.register({ ...replica, streamsMs: 0 }) }),
};

/** Passes bytes on until a timer ends their streams, though a process that wakes up may be faster than its timers. */
export const passWithoutLooking: ProtocolMutation = {
  timing: (timing) => ({ ...timing, passMs: Infinity }),
};

/** Waits longer than another one's lease by what its own lease calls for: with a short T that is too little for a long one. */
export const waitByTheOwnLease: ProtocolMutation = {
  timing: (timing) => {
    const beyondMs = timing.leaseWaitMs(timing.leaseMs) - timing.leaseMs;
    return { ...timing, leaseWaitMs: (reachMs) => reachMs + beyondMs };
  },
  circumstances: { virtualMs: 16_000, leases: [100, 900], faults: { partition: 0.02 } },
};

/** Takes off and waits too little for clocks that are wrong by a tenth. */
export const forgiveClocksTooLittle: ProtocolMutation = {
  timing: (timing) => {
    const guardMs = Math.max(5, timing.leaseMs / 30);
    return { ...timing, marginMs: guardMs, leaseWaitMs: (reachMs) => reachMs + guardMs };
  },
  circumstances: { faults: { partition: 0.02 } },
};

/** Responds to a writer by a count of the replicas that began before its commit. */
export const countTooEarly: ProtocolMutation = {
  log: (log): CoherenceLog => {
    let last: ReplicaReading | undefined;
    return {
      ...log,
      replicas: async () => {
        const stale = last;
        last = await log.replicas();
        return stale === undefined ? last : { ...stale, seq: last.seq };
      },
    };
  },
};

/** Confirms what it has read before it is taken in. */
export const confirmTooEarly: ProtocolMutation = {
  log: (log) => {
    let id = '';
    return {
      ...log,
      register: (replica) => {
        id = replica.id;
        return log.register(replica);
      },
      readAfter: async (after, most) => {
        const reading = await log.readAfter(after, most);
        await log.ack(id, reading.seq, 0);
        return reading;
      },
    };
  },
};

/** Drops what the log says and confirms it all the same. */
export const confirmUnread = pages((page) => ({ ...page, entries: [] }));

/** Trusts the rows of a restored database, which do not show the leases given before. */
export const trustRestoredRows: ProtocolMutation = {
  log: (log) => ({
    ...log,
    replicas: async () => ({ ...(await log.replicas()), complete: true }),
  }),
};

/** Does not notice that the database is another one. */
export const overlookTheRestore: ProtocolMutation = {
  historyOfCommits: 'same',
  log: (log) => ({
    ...log,
    readAfter: async (after, most) => ({ ...(await log.readAfter(after, most)), incarnation: 'same' }),
    replicas: async () => ({ ...(await log.replicas()), incarnation: 'same', complete: true }),
  }),
  source: (source) => ({
    readFacts: async (asked) => ({ ...(await source.readFacts(asked)), incarnation: 'same' }),
  }),
};

/** Confirms after the first page of a catch-up. */
export const confirmTheFirstPage = pages((page) => ({ ...page, through: page.seq }));

/** Confirms every page up to its end, though what has changed again since is only in a later one. */
export const confirmEachPage = pages((page) => ({ ...page, seq: page.through }));

/** Catches up to where the log was when the first page was read, and no further: the same mistake, only rarer. */
export const stopAtTheFirstSnapshot: ProtocolMutation = {
  log: (log) => {
    let goal: Seq | undefined;
    return {
      ...log,
      readAfter: async (after, most) => {
        const page = await log.readAfter(after, most);
        goal ??= page.seq;
        if (page.through < goal) return { ...page, seq: goal };
        const seq = goal;
        goal = undefined;
        return { ...page, seq, through: seq, entries: page.entries.filter((entry) => entry.seq <= seq) };
      },
    };
  },
};

/** Keeps the newest change of a fact alone, so that a replica which was behind overlooks a revocation before it. */
export const forgetOlderRevocations = pages((page, store) => ({
  ...page,
  entries: page.entries.filter(({ key, seq }) => store.lastTouched(key) === seq),
}));

/** Believes what is in memory for ever: a change that the log does not tell of is never enforced. */
export const proveNothingAgain: ProtocolMutation = {
  timing: (timing) => ({ ...timing, proveMs: Infinity }),
  cache: () => noFactCache,
  circumstances: { faults: { hand: 0.02 } },
};
