// class: app
/** Thousands of requests in a few packets, each rejected without a look-up: nobody else is served meanwhile. */
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';

for (const [what, target, all, bound] of [
  ['requests', '/', 5_000, 150],
  ['requests with long heads', `/${'a'.repeat(14_000)}`, 300, 20],
] as const)
  t.test(`few ${what} of one connection are served in a turn of the event loop`, async (t) => {
    const { port, finished } = await startGateway(t, { routes: { '/': 'http://127.0.0.1:1' } });
    const client = await rawClient(t, port);
    let most = 0;
    let before = 0;
    let counting = true;
    t.teardown(() => (counting = false));
    const count = (): void => {
      most = Math.max(most, finished.length - before);
      before = finished.length;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    client.send(requestText('GET', target).repeat(all));
    await client.until(() => finished.length === all);
    t.ok(most <= bound, `${most} in one turn`);
    await client.until(() => client.text.split('HTTP/1.1 401').length === all + 1);
  });
