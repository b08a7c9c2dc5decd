import type { Scope } from '../../../support/servers.ts';
import { Random } from '../../../support/coherence/random.ts';
import { corpusFile, readCorpus } from '../corpus.ts';
import type { Client, RunOptions } from '../options.ts';
import type { Tally } from '../tally.ts';
import { startWorld } from '../world.ts';
import { ask } from './client.ts';
import { drawPlan } from './generate.ts';
import { check, checkOffer, isSound } from './oracle.ts';
import { planFrom, tokenOf, type ResponsePlan } from './plan.ts';
import { startPlannedUpstream, type Exchange } from './upstream.ts';

/** Requests that are under way at a time, on as many connections. */
const lanes = 48;

/** Hostile upstreams: every response to a client is the one meant for it, or a rejection, or cut short. */
export async function runResponses(t: Scope, options: RunOptions): Promise<void> {
  const { tally } = options;
  const failures = new Failures(tally);
  const upstream = await startPlannedUpstream(t, options.client, (fault, exchange) =>
    failures.note(fault, exchange),
  );
  const world = await startWorld(t, { ...options, config: configuration(upstream.url, options.client) });
  const random = new Random(options.seed);
  let numbers = 0;
  let drawn = 0;

  const kept = (options.only ?? readCorpus(corpusFile.responses)).map(({ name, notes, bytes }) =>
    planFrom(name, notes, bytes),
  );
  const waiting = [...kept];
  const next = (): ResponsePlan | undefined => {
    const first = waiting.shift();
    if (first !== undefined) return first;
    if (options.only !== undefined || drawn >= options.count || options.until()) return undefined;
    drawn += 1;
    return drawPlan(random);
  };

  const begin = (plan: ResponsePlan, route: Exchange['route']): Exchange => {
    return { token: tokenOf(numbers++), plan, route, arrivals: 0, orphaned: false, unanswered: 0 };
  };
  const tryOut = async (plans: readonly ResponsePlan[], atOnce: boolean): Promise<void> => {
    const exchanges = plans.map((plan) =>
      begin(plan, isSound(plan, options.client) ? '/patient' : '/hurried'),
    );
    for (const exchange of exchanges) upstream.exchanges.set(exchange.token, exchange);
    const got = await ask(world.port, world.parent.key, exchanges, atOnce);
    let cut = false;
    for (const [i, exchange] of exchanges.entries()) {
      const mine = got[i];
      if (mine === undefined) continue;
      // What stands behind a response that was cut never had a chance.
      const { ending, faults } = check(exchange, mine, options.client);
      if (!(cut && ending === 'nothing'))
        for (const fault of faults) failures.note(fault, exchange, mine.bytes);
      tally.count('upstream', ending, mine.response.status);
      cut ||=
        ending === 'cut' || ending === 'nothing' || mine.closed || says(mine.bytes, 'connection: close');
    }
    // Late arrivals are still told from unknown ones for a while.
    setTimeout(() => exchanges.forEach(({ token }) => upstream.exchanges.delete(token)), 5_000).unref();
  };

  /** The same response, to a handshake. */
  const offerWebSocket = async (plan: ResponsePlan): Promise<void> => {
    const exchange = {
      ...begin({ ...plan, method: 'GET', requestBody: 'none' }, '/hurried'),
      offers: true,
    };
    upstream.exchanges.set(exchange.token, exchange);
    const [mine] = await ask(world.port, world.parent.key, [exchange], false);
    setTimeout(() => upstream.exchanges.delete(exchange.token), 5_000).unref();
    if (mine === undefined) return;
    const { ending, faults } = checkOffer(exchange, mine);
    for (const fault of faults) failures.note(fault, exchange, mine.bytes);
    tally.count('handshake', ending, mine.response.status);
  };

  const lane = async (): Promise<void> => {
    for (;;) {
      const plans: ResponsePlan[] = [];
      const several = 1 + random.below(4);
      for (let plan = next(); plan !== undefined; plan = plans.length < several ? next() : undefined)
        plans.push(plan);
      if (plans.length === 0 || tally.hopeless) return;
      await tryOut(plans, random.chance(0.4));
      await Promise.all(plans.map(offerWebSocket));
      if (!world.running()) throw new Error(`the gateway has ended:\n${world.output()}`);
    }
  };
  await Promise.all(Array.from({ length: options.only ? 1 : lanes }, lane));
  tally.notes.push(`${upstream.connections} connections to the upstream`);
  const unexpected = world.output().match(/.*unexpected error.*/);
  if (unexpected !== null)
    tally.fail({ what: 'the gateway met an unexpected error', kept: undefined, seen: unexpected[0] });
}

function says(bytes: string, header: string): boolean {
  return bytes.toLowerCase().includes(header);
}

class Failures {
  readonly #tally: Tally;

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  note(what: string, exchange: Exchange | undefined, seen = ''): void {
    const plan = exchange?.plan;
    const kept = plan && {
      name: plan.name,
      notes: [`${plan.method} ${plan.requestBody}`, `${plan.when} ${plan.after}`],
      bytes: plan.bytes,
    };
    this.#tally.fail({ what, kept, seen });
  }
}

function configuration(upstream: string, client: Client): string {
  // Half a response is waited for, but not for long. A busy machine may stop the upstream for longer.
  return `routes:
  - { prefix: /hurried, upstream: "${upstream}", timeouts: { headers_ms: 700, body_ms: 700 } }
  - { prefix: /patient, upstream: "${upstream}", timeouts: { headers_ms: 600000, body_ms: 600000 } }
route_defaults: { client: ${client}, connections: 24, timeouts: { connect_ms: 600000 } }
limits: { in_flight_per_tenant: 100000 }
`;
}
