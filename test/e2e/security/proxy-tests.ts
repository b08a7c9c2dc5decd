import t, { type Test } from 'tap';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { hostileRequests } from '../../http1/support/hostile-requests.ts';
import { startGateway } from '../../support/gateway.ts';
import { oddProxies, type OddProxy } from '../../support/odd-proxies.ts';
import { startUpstream } from '../../support/upstreams.ts';

/** Defines the test behind each of these proxies. */
export function testBehind(names: readonly (keyof typeof oddProxies)[]): void {
  for (const name of names) testBehindOne(name, oddProxies[name]);
}

function testBehindOne(name: string, proxy: OddProxy): void {
  t.test(
    `behind ${name}, each request that the gateway reads has a response that the same client gets`,
    {
      skip:
        proxy.program === undefined &&
        `NO ${name} ON THIS MACHINE: published forms of smuggling were not sent through it`,
    },
    async (t) => {
      const upstream = await startUpstream(t, ({ method, target }, response) => {
        response.setHeader('x-seen', `${method} ${encodeURI(target)}`).end('seen');
      });
      const { port, parent } = await startGateway(t, { routes: { '/': { upstream: upstream.url } } });
      const url = new URL(await proxy.start(t, `http://127.0.0.1:${port}`));
      let passed = 0;
      for (const [number, form] of [...hostileRequests, ...requestsInBodies(parent.key)].entries()) {
        const bytes = form.replace(
          / HTTP\/1\.[01]\r\n(?!Auth)/g,
          `$&Authorization: Bearer ${parent.key}\r\n`,
        );
        const before = upstream.received.length;
        const seen = await seenBy(url, bytes);
        const reached = upstream.received.slice(before);
        const targets = reached.map(({ method, target }) => `${method} ${encodeURI(target)}`);
        passed += targets.length;
        // The proxy keeps its connection to the gateway: a request hidden in another one would have the next response.
        const own = await seenBy(url, get(`/canary/${number}`, parent.key));
        // What has come behind the canary counts, too.
        const all = upstream.received
          .slice(before)
          .map(({ method, target }) => `${method} ${encodeURI(target)}`);
        const canary = [`GET /canary/${number}`];
        expectSame(t, { seen: targets, canary, all: [...seen, ...own] }, { seen, canary: own, all }, form);
      }
      t.comment(`${name} passed on ${passed} requests of ${hostileRequests.length} forms`);
      t.ok(passed > hostileRequests.length / 2, 'most forms reach the gateway');
    },
  );
}

/** Bodies that are requests, for a gateway that would read them as such. */
function requestsInBodies(key: string): string[] {
  const body = get('/hidden', key);
  const size = body.length;
  return [
    `POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${body}`,
    `POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  ];
}

function get(target: string, key: string): string {
  return `GET ${target} HTTP/1.1\r\nAuthorization: Bearer ${key}\r\nHost: a\r\n\r\n`;
}

/** Sends bytes and no more. Resolves to what the upstream saw, as the responses say, once the proxy has closed. */
async function seenBy({ hostname, port }: URL, bytes: string): Promise<string[]> {
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.end(Buffer.from(bytes, 'latin1'));
  const received = await text(socket).catch(() => '');
  return [...received.matchAll(/^x-seen: (.*)\r$/gim)].map(([, seen = '']) => seen);
}

function expectSame(t: Test, wanted: object, found: object, form: string): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) t.same(found, wanted, JSON.stringify(form));
}
