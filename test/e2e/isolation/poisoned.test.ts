// class: night
/** A minute of an upstream that sends bytes behind its responses, with four tenants, by each of the two clients. */
import t from 'tap';
import { startGateway } from '../../support/gateway.ts';
import { fourTenants, poisonFor, startPoisonedUpstream } from '../../support/poisoning.ts';

const lastsMs = 60_000;

for (const client of ['native', 'undici'] as const) {
  t.test(`${client}: no byte of one tenant's responses reaches another in a minute`, async (t) => {
    const upstream = await startPoisonedUpstream(t);
    const { port, directory, parent } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, connections: 8, client } },
    });
    const end = performance.now() + lastsMs;
    const tally = await poisonFor(t, port, fourTenants(directory, parent), () => performance.now() > end);
    t.comment(`${JSON.stringify(tally)}, ${upstream.connections} connections`);
    t.equal(tally.foreign, 0);
    t.ok(tally.own > 100);
    t.ok(tally.ownStray > 0, 'the upstream did poison connections');
  });
}
