// class: real
/** A live tail of a gateway of several workers. */
import t from 'tap';
import { eventually } from '../../support/eventually.ts';
import { speaksFor, watch } from '../../support/live-watch.ts';
import { requestText } from '../../support/raw-client.ts';
import { startRawUpstream } from '../../support/upstreams.ts';
import { onePerWorker, send, startWorkers } from '../../support/workers.ts';

t.test('a tail shows the requests of every worker, and what all have open', async (t) => {
  const upstream = await startRawUpstream(t, () => (incoming, response) => {
    if (incoming.url === '/stream') response.writeHead(200).write('begun');
    else response.end();
  });
  const gateway = await startWorkers(t, { UPSTREAM_URL: upstream.url });
  const { internalUrl, key } = gateway;
  // Operators' connections take turns, so both workers have tails.
  const tails = [await watch(t, internalUrl), await watch(t, internalUrl)];
  for (const tail of tails) await speaksFor(tail, 2);
  const clients = await onePerWorker(t, gateway);
  for (const client of clients) await send(client, key, '/watched');
  for (const tail of tails) {
    const watched = () => tail.lines().filter(({ path }) => path === '/watched');
    await eventually(() => watched().length === 2);
    t.same(
      watched()
        .map(({ replica_id: id }) => id)
        .sort(),
      tail.states().at(-1)?.replicas,
    );
  }
  for (const client of clients)
    client.send(requestText('GET', '/stream', [['Authorization', `Bearer ${key}`]]));
  for (const tail of tails) await eventually(() => tail.states().at(-1)?.open.streams === 2);
  for (const { socket } of clients) socket.destroy();
  for (const tail of tails) await eventually(() => tail.states().at(-1)?.open.streams === 0);
});
