import { parseArgs } from 'node:util';
import { targets } from './targets/all.ts';
import { scenarios } from './scenarios/all.ts';
import type { Effort } from './scenarios/scenario.ts';

/** What a run was asked for. */
export interface Options extends Effort {
  readonly rounds: number;
  /** Names of targets. */
  readonly only: readonly string[];
  /** `main.js` of another build of the gateway, to measure beside this one. */
  readonly against: string | undefined;
  /** Measure the gateway with its access log on, too. */
  readonly accessLog: boolean;
  /** Names of scenarios. */
  readonly scenario: readonly string[];
  readonly writeDocs: boolean;
  /** Id of the case to profile the gateway in, instead of comparing. */
  readonly profile: string | undefined;
  /** Show the results of an earlier run, from its JSON file, instead of measuring. */
  readonly from: string | undefined;
  readonly proxyCore: number;
  readonly otherCore: number;
  /** As they were given, for the record. */
  readonly args: readonly string[];
}

const caseIds = Object.values(scenarios).flatMap((cases) => cases.map(({ id }) => id));

export const usage = `npm run bench -- [options]

  --rounds N        measurements of each target, in turn (5)
  --seconds N       length of one measurement (4)
  --rate N          requests a second where the rate is constant (4000)
  --streams N       event streams (1000)
  --only A,B        targets: ${targets.map(({ name }) => name).join(', ')}
  --against FILE    measure another build of the gateway, too: its dist/main.js
  --access-log      measure the gateway with its access log on, too
  --scenario A,B    scenarios: ${Object.keys(scenarios).join(', ')}
  --cores P,O       core of the proxy, core of everything else (0,1)
  --quick           2 rounds of 1 second
  --write-docs      write docs/performance.md and docs/performance.svg
  --from FILE       use the results of an earlier run
  --profile CASE    CPU profile of the gateway in one case: ${caseIds.join(', ')}
`;

/** @throws Error that says what is wrong with the command line */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      rate: { type: 'string', default: '4000' },
      streams: { type: 'string', default: '1000' },
      only: { type: 'string', default: targets.map(({ name }) => name).join(',') },
      against: { type: 'string' },
      'access-log': { type: 'boolean', default: false },
      scenario: { type: 'string', default: Object.keys(scenarios).join(',') },
      cores: { type: 'string', default: '0,1' },
      quick: { type: 'boolean', default: false },
      'write-docs': { type: 'boolean', default: false },
      from: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const [proxyCore = 0, otherCore = 1] = values.cores.split(',').map((core) => whole('cores', core, 0));
  if (proxyCore === otherCore) throw new Error('--cores: the proxy needs a core of its own');
  return {
    rounds: whole('rounds', values.rounds ?? (values.quick ? '2' : '5'), 1),
    seconds: whole('seconds', values.seconds ?? (values.quick ? '1' : '4'), 1),
    rate: whole('rate', values.rate, 1),
    streams: whole('streams', values.streams, 1),
    only: known(
      'only',
      values.only,
      targets.map(({ name }) => name),
    ),
    against: values.against,
    accessLog: values['access-log'],
    scenario: inOrder(known('scenario', values.scenario, Object.keys(scenarios))),
    writeDocs: values['write-docs'],
    profile: values.profile === undefined ? undefined : known('profile', values.profile, caseIds)[0],
    from: values.from,
    proxyCore,
    otherCore,
    args,
  };
}

function whole(name: string, text: string, least: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < least)
    throw new Error(`--${name}: ${text} is not a number from ${least} up`);
  return number;
}

/** As they are listed: what some targets do not get over comes last. */
function inOrder(asked: readonly string[]): string[] {
  return Object.keys(scenarios).filter((name) => asked.includes(name));
}

function known(name: string, text: string, names: readonly string[]): string[] {
  const asked = text.split(',');
  const unknown = asked.filter((one) => !names.includes(one));
  if (unknown.length > 0)
    throw new Error(`--${name}: no ${unknown.join(', ')}; there are ${names.join(', ')}`);
  return asked;
}
