/** Measures what `docs/maintainers/coherence.md` and `docs/maintainers/look-ups.md` promise while things go wrong. `npm run bench:outages -- --help` */
import { parseArgs } from 'node:util';
import { describeMachine, machineLine, quietLoad } from '../machine.ts';
import { table } from '../report/tables.ts';
import type { Finding } from './figures.ts';
import { garbage } from './garbage.ts';
import { neighbours } from './neighbours.ts';
import type { Options } from './options.ts';
import { postgresOutage } from './postgres.ts';
import { redisOutage } from './redis.ts';
import { revokes } from './revokes.ts';
import { strangers } from './strangers.ts';
import { tenants } from './tenants.ts';
import { inOutageEnvironment, type OutageEnvironment } from './environment.ts';

interface Scenario {
  readonly title: string;
  run(environment: OutageEnvironment, options: Options): Promise<Finding>;
}

const scenarios: Readonly<Record<string, Scenario>> = {
  revokes: { title: 'Revokes, three replicas', run: revokes },
  redis: { title: 'Redis stopped and killed under load', run: redisOutage },
  postgres: { title: 'PostgreSQL stopped and killed under load', run: postgresOutage },
  garbage: { title: 'Made-up keys', run: garbage },
  strangers: { title: 'Made-up keys of other formats', run: strangers },
  neighbours: { title: 'One tenant asks for all it can', run: neighbours },
  tenants: { title: 'Tenants that act as sub-accounts, cold and through a failover', run: tenants },
};

const usage = `npm run bench:outages -- [options]

  --scenario A,B   ${Object.keys(scenarios).join(', ')} (all)
  --rate N         requests a second: of known callers (redis, postgres), of made-up keys (garbage, strangers), of acting tenants (tenants), revokes (revokes)
  --seconds N      length of one phase
  --garbage N      made-up keys of garbage in all, as many rounds as that takes: 1000000 take some minutes
  --cores P,O      core of the gateways, core of everything else (0,1)
`;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: Object.keys(scenarios).join(',') },
    rate: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '0' },
    garbage: { type: 'string', default: '0' },
    cores: { type: 'string', default: '0,1' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) print(usage);
else await main();

async function main(): Promise<void> {
  const machine = describeMachine();
  print(machineLine(machine));
  if (machine.load > quietLoad) print('WARNING: this machine is busy; what follows is noisy at best.');
  const [proxyCore = 0, otherCore = 1] = values.cores.split(',').map(Number);
  const options = {
    rate: Number(values.rate),
    seconds: Number(values.seconds),
    garbage: Number(values.garbage),
  };
  let kept = true;
  for (const name of values.scenario.split(',')) {
    const scenario = scenarios[name];
    if (scenario === undefined)
      throw new Error(`--scenario: no ${name}; there are ${Object.keys(scenarios).join(', ')}`);
    print(`\n## ${scenario.title}\n`);
    const began = performance.now();
    const say = (line: string): void =>
      print(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
    const finding = await inOutageEnvironment({ proxyCore, otherCore }, say, (environment) =>
      scenario.run(environment, options),
    );
    kept = show(finding) && kept;
  }
  process.exitCode = kept ? 0 : 1;
}

/** Returns whether everything promised was kept. */
function show({ header, rows, promises }: Finding): boolean {
  print(`\n${table(header, rows)}\n`);
  const lines = promises.map(({ what, seen, kept }) => [what, seen, kept ? 'yes' : 'NO']);
  print(table(['promise', 'seen', 'kept'], lines));
  return promises.every(({ kept }) => kept);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
