// class: app
import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { eventually } from '../support/eventually.ts';
import { startReplicas } from '../support/replicas.ts';
import type { Scope } from '../support/servers.ts';

/** Of each kind, on each of the two replicas. */
const perReplica = 500;

t.test(
  'a revoke ends a thousand WebSockets and a thousand event streams before it is answered',
  async (t) => {
    const { url, live } = await startLiveUpstream(t);
    // Opening them all keeps this process busy; no replica's lease should run out over it.
    const yaml = `coherence: {lease_ms: 60000}\nroutes:\n  - {prefix: /live, upstream: "${url}", connections: 2000}`;
    const replicas = await startReplicas(t, yaml);
    const origins = [replicas.manageOrigin, replicas.origin];
    const parent = await replicas.parent();
    const [doomed, bystander] = [await parent.create(), await parent.create()];
    const minted = await parent.call('POST', `/${doomed.id}/api-keys`, { body: { name: 'doomed' } });
    const key = String(minted.body['api_key']);
    const otherKey = await bystander.mint();

    const clients = new Clients(t);
    const others = new Clients(t);
    for (const origin of origins) {
      for (let i = 0; i < perReplica; i += 50) {
        await Promise.all(Array.from({ length: 50 }, () => clients.openBoth(origin, key)));
      }
      await others.openBoth(origin, otherKey);
    }
    t.same([clients.webSockets, clients.streams], [2 * perReplica, 2 * perReplica]);

    const began = performance.now();
    const path = `/${doomed.id}/api-keys/${String(minted.body['id'])}/revoke`;
    const answer = await parent.call('POST', path);
    const answered = performance.now();
    t.equal(answer.status, 200);
    t.match(answer.headers['x-service-enforced'], /^replicas=2; ms=\d+; streams=2000$/);
    // What the gateways wrote before they answered is on its way; nothing else is waited for.
    await eventually(() => clients.webSockets + clients.streams === 0);
    const seen = performance.now();
    t.comment(
      `answered after ${Math.round(answered - began)} ms, all seen ${Math.round(seen - answered)} ms later`,
    );
    t.same([...clients.codes], [4403], 'every WebSocket was told why');
    t.equal(clients.ended, 0, 'no event stream looks as if it were whole');
    t.same([others.webSockets, others.streams], [2, 2], 'streams of another key go on');
    await eventually(() => live() === 4);
  },
);

/** Streams as a client sees them. */
class Clients {
  /** That are open. */
  webSockets = 0;
  streams = 0;
  /** Event streams that came to an orderly end. */
  ended = 0;
  /** Close codes of WebSockets. */
  readonly codes = new Set<number>();
  readonly #scope: Scope;
  readonly #agent = new Agent({ keepAlive: false });

  constructor(scope: Scope) {
    this.#scope = scope;
    scope.teardown(() => this.#agent.destroy());
  }

  async openBoth(origin: string, key: string): Promise<void> {
    const headers = { authorization: `Bearer ${key}` };
    await Promise.all([this.#openWebSocket(origin, headers), this.#openStream(origin, headers)]);
  }

  async #openWebSocket(origin: string, headers: Record<string, string>): Promise<void> {
    const options = { headers, perMessageDeflate: false };
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/live`, options);
    this.#scope.teardown(() => socket.terminate());
    await once(socket, 'message');
    this.webSockets += 1;
    socket.once('close', (code) => {
      this.codes.add(code);
      this.webSockets -= 1;
    });
  }

  async #openStream(origin: string, headers: Record<string, string>): Promise<void> {
    const sent = request(`${origin}/live`, { headers, agent: this.#agent }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await once(answer, 'data');
    this.streams += 1;
    // A stream that is cut is reset.
    sent.on('error', () => undefined);
    answer.on('error', () => undefined);
    answer.once('end', () => (this.ended += 1));
    answer.once('close', () => (this.streams -= 1));
  }
}

/** An upstream whose WebSockets and event streams say one word and then nothing. `live` tells how many are open. */
async function startLiveUpstream(t: Scope): Promise<{ url: string; live: () => number }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: hello\n\n');
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket) => socket.on('error', () => undefined).send('hello'));
  let live = 0;
  server.on('connection', (socket) => {
    live += 1;
    socket.once('close', () => (live -= 1));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, live: () => live };
}
