// class: app
/** What `/metrics` says of what is going on, against a whole gateway. */
import { once } from 'node:events';
import { Agent } from 'node:http';
import t from 'tap';
import { WebSocket } from 'ws';
import { eventually } from '../support/eventually.ts';
import { get, named, start } from '../support/reload.ts';
import { valueOf } from '../support/scrape.ts';
import { startWebSocketUpstream } from '../support/websockets.ts';

t.test(
  'connections, requests under way by state, readiness, 429s by limit, and operators apart',
  async (t) => {
    const holding = await named(t, 'held', true);
    const sockets = await startWebSocketUpstream(t);
    const { gateway, key, origin } = await start(
      t,
      `
limits: { in_flight_per_tenant: 4 }
routes:
  - { prefix: /held, upstream: "${holding.url}" }
  - { prefix: /ws, upstream: "${sockets.url}" }
`,
    );
    const internal = `http://127.0.0.1:${gateway.internalAddress.port}`;
    const shows = async (series: string, value: number): Promise<void> => {
      await eventually(async () => (await valueOf(internal, `tenancy_gateway_${series}`)) === value);
      t.pass(`${series} is ${value}`);
    };
    await shows('ready', 1);
    await shows('requests_in_flight{state="sent"}', 0);
    const agent = new Agent({ keepAlive: true });
    t.teardown(() => agent.destroy());
    const idle = await valueOf(internal, 'tenancy_gateway_connections{listener="public"}');
    const held = [1, 2, 3].map(() => get(agent, `${origin}/held`, key));
    await shows('requests_in_flight{state="sent"}', 3);
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await once(socket, 'open');
    await shows('requests_in_flight{state="open"}', 1);
    await shows('connections{listener="public"}', idle + 4);
    t.equal((await get(agent, `${origin}/held`, key)).status, 429);
    await shows('too_many_requests_total{limit="requests_in_flight"}', 1);

    holding.release();
    await Promise.all(held);
    socket.close();
    await shows('requests_in_flight{state="sent"}', 0);
    await shows('requests_in_flight{state="open"}', 0);
    const bytes = await valueOf(internal, 'tenancy_gateway_response_body_bytes_total{route="/held"}');
    t.ok(bytes > 3 * 'held'.length, 'the problem has a body, too');
    t.ok(
      (await valueOf(
        internal,
        'tenancy_gateway_operator_request_duration_seconds_count{route="/admin/v1/accounts"}',
      )) >= 1,
    );
    const text = await (await fetch(`${internal}/metrics`)).text();
    t.notMatch(text, /tenancy_gateway_request_duration_seconds_count\{route="\/admin/);
    t.match(text, /store_statement_duration_seconds_count\{statement="tenants\.createKey"\} 1/);
  },
);
