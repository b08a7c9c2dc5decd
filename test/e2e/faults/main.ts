/** `npm run faults -- --minutes 10 --seed 7`: a long run. Ends with 1 where something was wrong. */
import { parseArgs } from 'node:util';
import { faults } from './support/faults.ts';
import { runFaults, type RunOutcome } from './support/run.ts';

const usage = `npm run faults -- [options]
  --minutes N      how long (1)
  --seed N         what goes wrong, and when (drawn and printed)
  --replicas N     gateways (3)
  --lease-ms N     COHERENCE_LEASE_MS (1000); may be repeated: each replica in turn gets one
  --streams-s N    coherence.streams_outlive_lease_s (1)
  --clock-error N  how wrong the clocks of replicas are, as a share, in turn too slow and too fast (0)
  --standby        PostgreSQL has a synchronous standby, which may have to take over
  --isolation L    default_transaction_isolation of PostgreSQL, such as 'repeatable read'
  --wall-clocks-apart-ms N  how far the wall clocks of replicas are apart, in turn ahead and behind (0)
  --by-hand        keys are revoked by SQL, too, which has to be enforced within a lease
  --lanes N        probes under way at once to one replica (4)
  --only NAME      one fault, again and again; may be repeated:
${Object.keys(faults)
  .map((name) => `                     ${name}`)
  .join('\n')}
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    replicas: { type: 'string', default: '3' },
    'lease-ms': { type: 'string', multiple: true, default: ['1000'] },
    'streams-s': { type: 'string', default: '1' },
    'clock-error': { type: 'string', default: '0' },
    standby: { type: 'boolean', default: false },
    isolation: { type: 'string' },
    'wall-clocks-apart-ms': { type: 'string', default: '0' },
    'by-hand': { type: 'boolean', default: false },
    lanes: { type: 'string', default: '4' },
    only: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(usage);
} else {
  const seed = Number(values.seed);
  say(`seed ${seed}`);
  const began = performance.now();
  const ends: (() => unknown)[] = [];
  try {
    const outcome = await runFaults(
      { teardown: (end) => ends.unshift(end) },
      {
        seed,
        durationMs: Number(values.minutes) * 60_000,
        replicas: Number(values.replicas),
        leases: values['lease-ms'].map(Number),
        streamsS: Number(values['streams-s']),
        clockError: Number(values['clock-error']),
        standby: values.standby,
        wallClocksApartMs: Number(values['wall-clocks-apart-ms']),
        byHand: values['by-hand'],
        ...(values.isolation !== undefined && { isolation: values.isolation }),
        probesAtOnce: Number(values.lanes),
        probePauseMs: 4,
        ...(values.only.length > 0 && { from: values.only }),
        say: (line) => say(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${line}`),
      },
    );
    process.exitCode = report(outcome, Number(values.minutes) * 60) ? 0 : 1;
  } finally {
    for (const end of ends) await end();
  }
}

function report(outcome: RunOutcome, seconds: number): boolean {
  const { decisions, undecided, streamed, mutationMs, faults, stale, recovered, met } = outcome;
  const at = (share: number): string =>
    `${Math.round(mutationMs[Math.floor(mutationMs.length * share)] ?? 0)} ms`;
  say(
    `${faults.length} faults, ${decisions} decisions (${Math.round(decisions / seconds)} a second), ` +
      `${undecided} probes undecided, ${streamed} pieces of streams`,
  );
  say(`${mutationMs.length} mutations got a 2xx: p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}`);
  for (const [situation, times] of Object.entries(met)) say(`met: ${situation}, ${times} times`);
  const isStream = ({ observation }: (typeof stale)[number]): boolean => observation.by === 'streams';
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    'odd responses': outcome.odd,
    'stale decisions': stale.filter((each) => !isStream(each)),
    'bytes after the 2xx': stale.filter(isStream),
    'quotas over by more than allowed': outcome.over,
    'quotas exceeded with room': outcome.early,
  };
  for (const [what, seen] of Object.entries(wrong)) {
    for (const each of seen.slice(0, 10)) say(`WRONG  ${JSON.stringify(each)}`);
    say(`${seen.length} ${what}`);
  }
  if (!recovered) say('NOT RECOVERED: a replica was not ready at the end');
  if (streamed === 0) say('NO STREAMS: no piece of one arrived');
  return Object.values(wrong).every(({ length }) => length === 0) && recovered && streamed > 0;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
