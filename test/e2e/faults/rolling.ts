/** `npm run bench:rolling -- --seconds 60 --rate 500`. Ends with 1 where a request, a download or a count was lost. */
import { parseArgs } from 'node:util';
import { startPostgres } from '../../support/postgres.ts';
import { haproxyThere } from './support/haproxy.ts';
import { rollingRestarts, type RollingOutcome } from './support/rolling.ts';

const usage = `npm run bench:rolling -- [options]
  --seconds N      how long (60)
  --rate N         requests a second (500)
  --replicas N     gateways behind HAProxy (2)
`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '500' },
    replicas: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  say(usage);
} else if (!haproxyThere) {
  say('There is no HAProxy on this machine (apt-get install haproxy).');
  process.exitCode = 1;
} else {
  const ends: (() => unknown)[] = [];
  const scope = { teardown: (end: () => unknown) => ends.unshift(end) };
  const [seconds, perSecond, replicas] = [
    Number(values.seconds),
    Number(values.rate),
    Number(values.replicas),
  ];
  say(
    `${replicas} replicas behind HAProxy, ${perSecond} requests a second for ${seconds} s, half of them writes`,
  );
  try {
    const { url: databaseUrl } = await startPostgres(scope);
    const outcome = await rollingRestarts(scope, { databaseUrl, seconds, perSecond, replicas, say });
    process.exitCode = report(outcome, perSecond) ? 0 : 1;
  } finally {
    for (const end of ends) await end();
  }
}

function report(outcome: RollingOutcome, perSecond: number): boolean {
  const { sent, failed, failures, slowestMs, medianMs, p99Ms, restarts, downloads, counted, seconds } =
    outcome;
  const responded = sent - failed + downloads.whole;
  const badExits = restarts.filter(({ exitCode }) => exitCode !== 0).length;
  const most = (of: 'drainMs' | 'startMs'): number => Math.max(...restarts.map((restart) => restart[of]));
  const rows: [string, string][] = [
    ['restarts', `${restarts.length}, ${badExits} of them not with exit code 0`],
    ['longest drain, longest start', `${most('drainMs')} ms, ${most('startMs')} ms`],
    ['requests sent', `${sent} in ${seconds.toFixed(1)} s, ${(sent / seconds).toFixed(0)} a second`],
    ['requests failed', `${failed}`],
    ['median, p99, slowest', [medianMs, p99Ms, slowestMs].map((ms) => `${ms.toFixed(1)} ms`).join(', ')],
    ['downloads', `${downloads.begun}, ${downloads.whole} of them whole`],
    ['responses / counted as usage', `${responded} / ${counted}`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  say('');
  for (const [name, value] of rows) say(`${name.padEnd(width)}  ${value}`);
  for (const fault of [...failures, ...downloads.faults]) say(`FAILED  ${fault}`);
  const enough = sent > 0.95 * perSecond * seconds;
  if (!enough) say('TOO SLOW: the load could not be kept up, so this says little');
  const lost = failed > 0 || downloads.whole < downloads.begun || counted !== responded || badExits > 0;
  say(lost ? '\nSOMETHING WAS LOST' : '\nNothing was lost.');
  return !lost && enough;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
