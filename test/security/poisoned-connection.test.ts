// class: app
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { fourTenants, poisonFor, startPoisonedUpstream } from '../support/poisoning.ts';

t.test('bytes behind a response to one tenant and caller are never a response to others', async (t) => {
  for (const connections of [1, 4, 16]) {
    const upstream = await startPoisonedUpstream(t);
    const { port, directory, parent } = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, connections } },
    });
    const askers = fourTenants(directory, parent);
    const tally = await poisonFor(t, port, askers, ({ own, foreign }) => own >= 150 || foreign > 0);
    t.equal(tally.foreign, 0, `${connections} connections`);
  }
});
