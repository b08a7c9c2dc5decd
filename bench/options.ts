import { parseArgs } from 'node:util';
import { nodeRuntime, type NodeRuntime } from './lib/node-runtime.ts';
import { targets } from './targets/all.ts';
import { scenarios } from './scenarios/all.ts';
import type { Case, Effort } from './scenarios/scenario.ts';

/** What a run was asked for. */
export interface Options extends Effort {
  /** How often the targets are started anew; each start has all rounds. */
  readonly starts: number;
  readonly rounds: number;
  /** Names of targets; with `against`, of those beside the two builds. */
  readonly only: readonly string[];
  /** A git revision, checkout or `main.js`: another build of the gateway to compare this one with. */
  readonly against: string | undefined;
  /** Measure the gateway with its access log on, too. */
  readonly accessLog: boolean;
  /** Measure the gateway with limits of all kinds, too. */
  readonly limits: boolean;
  /** What to measure, in the order it is listed: what some targets do not get over comes last. */
  readonly cases: readonly Case[];
  readonly writeDocs: boolean;
  /** Id of the case to profile the gateway in, instead of comparing. */
  readonly profile: string | undefined;
  /** Show the results of an earlier run, from its JSON file, instead of measuring. */
  readonly from: string | undefined;
  /** What the gateway and bare node:http run on; a row for each of both on every further one. */
  readonly nodes: readonly NodeRuntime[];
  readonly proxyCore: number;
  readonly otherCore: number;
  /** As they were given, for the record. */
  readonly args: readonly string[];
}

const caseIds = Object.values(scenarios).flatMap((cases) => cases.map(({ id }) => id));
const targetNames = targets.map(({ name }) => name);

/** What the run takes its time for, where the command line does not say. */
const defaults = {
  table: { starts: '1', rounds: '5', seconds: '4', only: targetNames.join(',') },
  quickTable: { starts: '1', rounds: '2', seconds: '1', only: targetNames.join(',') },
  against: { starts: '4', rounds: '3', seconds: '2', only: 'node-http,http-proxy-redis' },
  quickAgainst: { starts: '2', rounds: '4', seconds: '1', only: 'gateway' },
} as const;

export const usage = `npm run bench -- [options]

  --against WHAT    compare two builds: A of a git revision, a checkout or a dist/main.js, and B of this tree
  --quick           fewer and shorter rounds: with --against some 6 minutes instead of 20
  --starts N        start the targets anew so often (1; with --against 4, quick 2)
  --rounds N        measurements of each target in each start, in turn (5, quick 2; with --against 3, quick 4)
  --seconds N       length of one measurement (4; with --against 2; quick 1)
  --rate N          requests a second where the rate is constant (4000)
  --streams N       event streams (1000)
  --only A,B        targets: ${targetNames.join(', ')};
                    with --against those beside the builds (${defaults.against.only}; quick none)
  --node PATH       Node of the gateway and of bare node:http, flags may follow: --node "node24 --use-largepages=silent";
                    again for further rows on other ones (the Node that runs this)
  --node-options F  flags for all of these
  --access-log      measure the gateway with its access log on, too
  --limits          measure the gateway with limits on the key, the sub-account and the parent, too
  --scenario A,B    scenarios (${Object.keys(scenarios).join(', ')})
                    or single cases (${caseIds.join(', ')})
  --cores P,O       core of the proxy, core of everything else (0,1)
  --write-docs      write docs/maintainers/performance.md and docs/maintainers/performance.svg
  --from FILE       use the results of an earlier run
  --profile CASE    CPU profile of the gateway in one case
`;

/** @throws Error that says what is wrong with the command line */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      starts: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      rate: { type: 'string', default: '4000' },
      streams: { type: 'string', default: '1000' },
      only: { type: 'string' },
      against: { type: 'string' },
      node: { type: 'string', multiple: true, default: [process.execPath] },
      'node-options': { type: 'string', default: '' },
      'access-log': { type: 'boolean', default: false },
      limits: { type: 'boolean', default: false },
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
  if (values.against !== undefined && values['write-docs'])
    throw new Error('--write-docs writes the table of all targets, which --against does not measure');
  if (values.against !== undefined && values.node.length > 1)
    throw new Error('--against compares two builds on one Node: only one --node');
  const [table, against] = values.quick
    ? [defaults.quickTable, defaults.quickAgainst]
    : [defaults.table, defaults.against];
  const usual = values.against === undefined ? table : against;
  return {
    starts: whole('starts', values.starts ?? usual.starts, 1),
    rounds: whole('rounds', values.rounds ?? usual.rounds, 1),
    seconds: whole('seconds', values.seconds ?? usual.seconds, 1),
    rate: whole('rate', values.rate, 1),
    streams: whole('streams', values.streams, 1),
    only: known('only', values.only ?? usual.only, targetNames),
    against: values.against,
    accessLog: values['access-log'],
    limits: values.limits,
    cases: casesOf(known('scenario', values.scenario, [...Object.keys(scenarios), ...caseIds])),
    writeDocs: values['write-docs'],
    profile: values.profile === undefined ? undefined : known('profile', values.profile, caseIds)[0],
    from: values.from,
    nodes: values.node.map((text) => nodeRuntime(text, values['node-options'].split(' ').filter(Boolean))),
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

function casesOf(asked: readonly string[]): Case[] {
  return Object.entries(scenarios).flatMap(([name, cases]) =>
    cases.filter(({ id }) => asked.includes(name) || asked.includes(id)),
  );
}

function known(name: string, text: string, names: readonly string[]): string[] {
  const asked = text.split(',');
  const unknown = asked.filter((one) => !names.includes(one));
  if (unknown.length > 0)
    throw new Error(`--${name}: no ${unknown.join(', ')}; there are ${names.join(', ')}`);
  return asked;
}
