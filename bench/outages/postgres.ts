import { setTimeout as sleep } from 'node:timers/promises';
import { slotMs, type OpenLoop, type Slot } from '../load/paced.ts';
import { ms, us, type Finding, type Promised } from './figures.ts';
import { makeKeys, unknownKeys } from './keys.ts';
import type { Options } from './options.ts';
import { leaseMs, type OutageEnvironment } from './environment.ts';
import { watch } from './watch.ts';

const knownKeys = 2_000;
const revokedKeys = 50;
const rejectedPerSecond = 20;
/** Slots in a line of the timeline. */
const slotsPerLine = 5;
/** Before anything happens, while PostgreSQL is away, and after it came back; in milliseconds. */
const [calmMs, awayMs, backMs] = [3_000, 6_000, 4_000];

interface Moment {
  readonly atMs: number;
  readonly what: string;
}

/** PostgreSQL stopped, then killed, under callers that are known, revoked and unknown. */
export async function postgresOutage(environment: OutageEnvironment, { rate }: Options): Promise<Finding> {
  const { postgres } = environment;
  const perSecond = rate || 500;
  const gateway = await environment.gateway('replica', 'with Redis');
  const ring = await makeKeys(environment, gateway, knownKeys);
  const known = ring.keys.map(({ text }) => text);
  const revoked = known.splice(0, revokedKeys);
  await environment.load(gateway, known, { rate: knownKeys / 2, seconds: 2 });
  for (const { id } of ring.keys.slice(0, revokedKeys)) {
    const path = `/v1/sub-accounts/${ring.sub}/api-keys/${id}/revoke`;
    await gateway.client.send('POST', path, { key: ring.parent.key });
  }

  const seconds = (calmMs + 2 * (awayMs + backMs)) / 1_000;
  environment.say(
    `${known.length} known keys at ${perSecond}/s, revoked and unknown ones at ${rejectedPerSecond}/s each`,
  );
  environment.say(' from s   2xx   503 other');
  const watched = watch([gateway]);
  const slots: Slot[] = [];
  const moments: Moment[] = [];
  let began = NaN;
  let start: () => void = () => undefined;
  const started = new Promise<void>((resolve) => (start = resolve));
  const onSlot = (slot: Slot): void => {
    if (slots.push(slot) === 1) {
      began = performance.now() - slotMs;
      start();
    }
    if (slots.length % slotsPerLine === 0) environment.say(timelineLine(slots));
  };
  const happens = async (what: string, afterMs: number, act: () => Promise<void>): Promise<void> => {
    await sleep(afterMs);
    environment.say(what);
    moments.push({ atMs: performance.now() - began, what });
    await act();
  };
  const faults = async (): Promise<void> => {
    await started;
    await happens('SIGSTOP', calmMs, () => postgres.pause());
    await happens('SIGCONT', awayMs, () => postgres.resume());
    await happens('SIGKILL', backMs, () => postgres.kill());
    await happens('started', awayMs, () => postgres.start());
    moments.push({ atMs: performance.now() - began, what: 'accepts connections' });
  };
  const rejected = { rate: rejectedPerSecond, seconds, connections: 20 };
  const [served, revokedSeen, unknownSeen] = await Promise.all([
    environment.load(gateway, known, {
      rate: perSecond,
      seconds,
      connections: 200,
      onSlot,
    }),
    environment.load(gateway, revoked, rejected),
    environment.load(gateway, unknownKeys(rejectedPerSecond * seconds), rejected),
    faults(),
  ]);
  return {
    header: ['keys', 'sent', '2xx', '401', '503', 'others', 'slowest 2xx'],
    rows: [row('known', served), row('revoked', revokedSeen), row('unknown', unknownSeen)],
    promises: [
      ...promisesToKnown(served),
      rejectedOnly('a revoked key gets 401 or 503', revokedSeen),
      rejectedOnly('an unknown key gets 401 or 503', unknownSeen),
      ...moments.flatMap((moment) => promisesAbout(moment, slots)),
      ...(await watched.end()),
    ],
  };
}

/** The last quarter of a second: when it began, and its responses. */
function timelineLine(slots: readonly Slot[]): string {
  const last = slots.slice(-slotsPerLine);
  const count = (of: (slot: Slot) => number): string =>
    String(last.reduce((sum, slot) => sum + of(slot), 0)).padStart(5);
  const fromMs = (slots.length - slotsPerLine) * slotMs;
  const figures = [
    ({ ok }: Slot) => ok,
    (slot: Slot) => slot.unavailable,
    (slot: Slot) => slot.other + slot.broken,
  ];
  return `${(fromMs / 1_000).toFixed(2).padStart(7)} ${figures.map(count).join(' ')}`;
}

function promisesToKnown(served: OpenLoop): Promised[] {
  const { '200': ok = 0, '503': unavailable = 0 } = served.statuses;
  const others = served.due - ok - unavailable;
  return [
    { what: 'a known key gets 2xx or 503', seen: `${others} others`, kept: others === 0 },
    {
      what: 'every 503 has Retry-After',
      seen: `${served.withoutRetryAfter} of ${unavailable} without`,
      kept: served.withoutRetryAfter === 0 && unavailable > 0,
    },
  ];
}

function rejectedOnly(what: string, { due, statuses }: OpenLoop): Promised {
  const { '401': rejected = 0, '503': unavailable = 0 } = statuses;
  const others = due - rejected - unavailable;
  return {
    what,
    seen: `${rejected} × 401, ${unavailable} × 503, ${others} others`,
    kept: others === 0 && rejected > 0,
  };
}

/** How long it went on serving, and how soon it did again. */
function promisesAbout({ atMs, what }: Moment, slots: readonly Slot[]): Promised[] {
  const from = Math.floor(atMs / slotMs);
  if (what === 'SIGSTOP' || what === 'SIGKILL') {
    const [rejecting, served] = [
      slots.findIndex((slot, i) => i > from && slot.unavailable > 0 && slot.ok === 0),
      slots.slice(from).every(({ other, broken }) => other + broken === 0),
    ];
    const forMs = (rejecting - from) * slotMs;
    // The last renewal was up to T/4 and a little ago.
    const kept = served && forMs >= 0.7 * leaseMs - slotMs && forMs <= leaseMs + slotMs;
    return [{ what: `${what}: known keys are served until the lease ends`, seen: ms(forMs), kept }];
  }
  if (what === 'started') return [];
  const again = slots.findIndex((slot, i) => i > from && slot.ok > 0);
  const [name, afterMs] = [what === 'SIGCONT' ? what : 'started again', (again - from) * slotMs];
  return [
    {
      what: `${name}: served again by itself`,
      seen: `after ${ms(afterMs)}`,
      kept: again > 0 && afterMs <= 1_000,
    },
  ];
}

function row(name: string, { due, statuses, max }: OpenLoop): string[] {
  const { '200': ok = 0, '401': rejected = 0, '503': unavailable = 0 } = statuses;
  const others = due - ok - rejected - unavailable;
  return [name, ...[due, ok, rejected, unavailable, others].map(String), ok > 0 ? us(max) : '–'];
}
