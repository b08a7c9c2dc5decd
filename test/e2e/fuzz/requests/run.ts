import { Random } from '../../../support/coherence/random.ts';
import type { Scope } from '../../../support/servers.ts';
import { corpusFile, readCorpus } from '../corpus.ts';
import type { Client, RunOptions } from '../options.ts';
import { startWorld } from '../world.ts';
import { kinds, withPlaceholders, withValues, type Kind, type RequestCase } from './case.ts';
import { drawCase } from './generate.ts';
import { minimise } from './minimise.ts';
import { Session, type Fault } from './session.ts';
import { startUpstreams } from './upstreams.ts';

/** Cases under way at a time, each on as many connections as there are upstreams. */
const lanes = 20;

/** Hostile clients: every request an upstream sees is one that a client sent and may send, and nothing else is. */
export async function runRequests(t: Scope, options: RunOptions): Promise<void> {
  const { tally } = options;
  const late: { session?: Session } = {};
  const found: Fault[] = [];
  const note = (fault: Fault): void => {
    found.push(fault);
    if (tally.failures.length + found.length < 200) options.say?.(`FAILED ${fault.what.slice(0, 300)}`);
  };
  const { urls, missing } = await startUpstreams(
    t,
    (seen) => late.session?.witness(seen) ?? 'early',
    (what) => note({ what, of: undefined, heard: '' }),
  );
  for (const name of missing) tally.notes.push(`NO ${name.toUpperCase()} ON THIS MACHINE: it was not tried`);
  for (const name of missing)
    options.say?.(`NO ${name.toUpperCase()} ON THIS MACHINE: going on with the others`);
  const world = await startWorld(t, { ...options, config: configuration(urls, options.client) });
  const running = new Session(world, [...urls.keys()], note);
  late.session = running;

  const random = new Random(options.seed);
  const kept = (options.only ?? readCorpus(corpusFile.requests)).map(({ name, bytes }): RequestCase => {
    return { name, bytes: withValues(world, bytes), splits: [] };
  });
  let drawn = 0;
  const next = (): RequestCase | undefined => {
    const first = kept.shift();
    if (first !== undefined) return first;
    if (options.only !== undefined || drawn >= options.count || options.until()) return undefined;
    drawn += 1;
    return withoutTimedTabs(drawCase(random, world));
  };
  const lane = async (): Promise<void> => {
    for (let one = next(); one !== undefined && found.length < tally.most; one = next()) {
      for (const { kind, endings, statuses } of await running.tryOut(one)) {
        for (const [i, status] of statuses.entries()) {
          const [ending = 'not a request'] = (endings[i] ?? '').split(' ').filter(Boolean);
          tally.count(kinds[kind], ending, status);
        }
      }
      if (!world.running()) throw new Error(`the gateway has ended after ${one.name}:\n${world.output()}`);
    }
  };
  await Promise.all(Array.from({ length: options.only ? 1 : lanes }, lane));
  // Something may still be on its way to an upstream.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const unexpected = /.*unexpected error.*/.exec(world.output());
  if (unexpected !== null)
    note({ what: 'the gateway met an unexpected error', of: undefined, heard: unexpected[0] });
  await report(options, running, found, (bytes) => withPlaceholders(world, bytes));
}

/**
 * Replaces tabs beside a transfer coding in all but the first head. Node rejects them (`strict-head.ts`), but in a request that waits for
 * an earlier response the gateway reads them as white space (`headBytes` in `pipelining.ts`); which it is depends on time.
 */
function withoutTimedTabs(drawn: RequestCase): RequestCase {
  const first = drawn.bytes.indexOf('\r\n\r\n');
  if (first === -1) return drawn;
  const behind = drawn.bytes
    .slice(first)
    .replace(/^transfer-encoding:.*\t.*$/gim, (line) => line.replaceAll('\t', ' '));
  return { ...drawn, bytes: drawn.bytes.slice(0, first) + behind };
}

/** Minimises the first faults: each in turn, alone with the gateway. */
async function report(
  { tally, say }: RunOptions,
  session: Session,
  found: readonly Fault[],
  readable: (bytes: string) => string,
): Promise<void> {
  let minimised = 0;
  for (const { what, of, heard } of found) {
    let small = of;
    if (
      of !== undefined &&
      minimised < 2 &&
      found.findIndex((other) => other.of === of) === found.findIndex((each) => each.what === what)
    ) {
      minimised += 1;
      say?.(`making the input of "${what.slice(0, 100)}" smaller …`);
      small = await minimise(of, (smaller) => failsAlone(session, smaller, kindOfFault(what)));
    }
    const kept = small && { name: small.name, notes: [], bytes: readable(small.bytes) };
    tally.fail({ what, kept, seen: readable(heard) });
  }
}

/** The same fault, but for words, numbers and the upstream it was seen at. */
function kindOfFault(what: string): string {
  return what.replace(/^[ebnh]\b|=\w+=|"[^]*|\d+/g, '').slice(0, 40);
}

async function failsAlone(session: Session, one: RequestCase, kind: string): Promise<boolean> {
  let faults = 0;
  const before = session.tell(({ what }) => (faults += kindOfFault(what) === kind ? 1 : 0));
  await session.tryOut(one);
  await new Promise((resolve) => setTimeout(resolve, 15));
  session.tell(before);
  return faults > 0;
}

function configuration(urls: ReadonlyMap<Kind, string>, client: Client): string {
  const open = 'authentication: none, open_per_second: 1000000';
  const routes = [...urls].flatMap(([kind, url]) => [
    `  - { prefix: /up-${kind}, upstream: "${url}" }`,
    `  - { prefix: /open-${kind}, upstream: "${url}", ${open} }`,
  ]);
  return `upstream_url: ${urls.get('n') ?? urls.get('e')}
authentication: { schemes: [Bearer, Token, ApiKey, Basic] }
route_defaults: { client: ${client} }
routes:
${routes.join('\n')}
limits: { in_flight_per_tenant: 100000 }
`;
}
