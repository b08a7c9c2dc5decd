// class: app
/** A tenant sends more than its limit lets through, in every way in which requests reach an upstream at once. */
import t from 'tap';
import { startProxied } from '../support/gateway.ts';
import { OneReplicaLimiter } from '../support/one-replica-limiter.ts';
import { rawClient, requestText } from '../support/raw-client.ts';

const limit = 5;

for (const client of ['native', 'undici'] as const)
  t.test(`requests over many connections, or pipelined on one, are not more (${client})`, async (t) => {
    const { upstream, call, port, directory, parent } = await startProxied(t, {
      route: { client },
      rateLimiter: new OneReplicaLimiter(),
    });
    const child = directory.addSubAccount(parent, 'child');
    directory.limitAccount(child, { requestsPerSecond: limit });
    const byItsParent: [string, string][] = [['X-Service-Acting-Tenant', 'ext:child']];
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0
          ? call('GET', '/', { key: child.key })
          : call('POST', '/', { headers: byItsParent, body: 'x' }),
      ),
    );
    t.equal(responses.filter(({ status }) => status === 429).length, 20 - limit);
    const pipelined = await rawClient(t, port);
    const request = requestText('GET', '/', [['Authorization', `Bearer ${child.key}`]]);
    pipelined.send(request.repeat(10));
    await pipelined.until(() => pipelined.text.split('HTTP/1.1 ').length === 11);
    t.notMatch(pipelined.text, /HTTP\/1.1 200/);
    t.equal(upstream.heads, limit);
  });
