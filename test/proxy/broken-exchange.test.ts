// class: app
/** An exception in the gateway's own code ends the exchange that it served, and nothing else. */
import t from 'tap';
import { guarded, guardMethods, type Breakable } from '../../src/http/guarded.ts';
import { ActiveExchanges } from '../../src/proxy/active-exchanges.ts';
import { HandOvers } from '../../src/proxy/upstream/hand-overs.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { OneReplicaLimiter } from '../support/one-replica-limiter.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { startRawUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';
import type { Scope } from '../support/servers.ts';

const exception = 'an exception of the test';

/** Throws once, at one of the calls that the gateway makes while it serves an exchange. */
class Fuse {
  calls = 0;
  /** The call at which it burns; 0 for none. */
  at = 0;

  /** Puts it into every method of a port. */
  in<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          this.#called();
          return Reflect.apply(member, target, args);
        };
      },
    });
  }

  #called(): void {
    // What timers ask for all exchanges together serves none of them.
    if (new Error().stack?.includes('listOnTimeout') === true) return;
    this.calls += 1;
    if (this.calls !== this.at) return;
    throw new Error(exception);
  }
}

interface World extends TestGateway {
  readonly fuse: Fuse;
  readonly exchanges: ActiveExchanges;
}

/** A gateway whose ports throw on demand. The upstream sends half of `/slow`, and the rest when it is asked for `/rest`. */
async function start(t: Scope, client: 'native' | 'undici'): Promise<World> {
  const rest: (() => void)[] = [];
  const upstream = await startRawUpstream(t, () => (request, response) => {
    request.resume();
    if (request.url === '/slow') {
      response.writeHead(200, { 'content-length': 20_000 }).write('x'.repeat(10_000));
      rest.push(() => response.end('x'.repeat(10_000)));
    } else {
      if (request.url === '/rest') for (const end of rest.splice(0)) end();
      response.end('ok');
    }
  });
  const sockets = await startWebSocketUpstream(t);
  const fuse = new Fuse();
  const exchanges = new ActiveExchanges();
  const gateway = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, client }, '/ws': sockets.url },
    exchanges,
    clock: fuse.in(systemClock),
    directory: (memory) => fuse.in(memory),
    rateLimiter: fuse.in(new OneReplicaLimiter()),
    // Then a place that is not given back is missed at once.
    limits: { inFlightPerTenant: 4 },
  });
  return { ...gateway, fuse, exchanges };
}

const attempts: Readonly<Record<string, (world: World, t: Scope) => Promise<unknown>>> = {
  GET: ({ call }) => call('GET', '/'),
  'PUT with a short body': ({ call }) => call('PUT', '/', { body: 'short' }),
  'PUT with a long body': ({ call }) => call('PUT', '/', { body: 'x'.repeat(100_000) }),
  'GET that is rejected': ({ call }) => call('GET', '/', { key: null }),
  handshake: async ({ port, parent }, t) => {
    const client = await openWebSocket(t, port, '/ws', { authorization: `Bearer ${parent.key}` });
    client.socket.send('hello');
    await eventually(() => client.messages.length === 1 || client.closed !== null);
    client.socket.close();
    await eventually(() => client.closed !== null);
  },
};

for (const [what, attempt, client] of Object.entries(attempts).flatMap(([what, attempt]) => [
  [what, attempt, 'native'] as const,
  [what, attempt, 'undici'] as const,
])) {
  t.test(`${client}, ${what}: an exception at any call of a port ends this exchange alone`, async (t) => {
    const world = await start(t, client);
    const { fuse, exchanges, call, dial, requestOf, log } = world;
    await attempt(world, t);
    await eventually(() => exchanges.size === 0);
    fuse.calls = 0;
    await attempt(world, t);
    await eventually(() => exchanges.size === 0);
    const { calls } = fuse;
    t.ok(calls > 1, `${calls} calls`);

    for (let at = 1; at <= calls; at += 1) {
      const beside = await dial(requestOf('GET', '/slow'));
      await beside.until(() => beside.text.endsWith('x'));
      log.text = '';
      fuse.calls = 0;
      fuse.at = at;
      await attempt(world, t).catch(() => undefined);
      fuse.at = 0;
      await eventually(() => exchanges.size === 1, `the end of the exchange, exception ${at} of ${calls}`);
      t.equal(log.text.split(`"message":"${exception}"`).length, 2, `exception ${at} of ${calls}`);
      t.match(log.text, /"level":50.*"stack":/);
      t.equal((await call('GET', '/rest')).status, 200);
      t.equal((await beside.response()).body.length, 20_000);
      await eventually(() => exchanges.size === 0);
      beside.socket.destroy();
    }
    const more = await Promise.all(Array.from({ length: 4 }, () => call('GET', '/')));
    t.same(
      more.map(({ status }) => status),
      [200, 200, 200, 200],
      'all places are free',
    );
  });
}

t.test('a guarded callback that throws ends what it served', (t) => {
  const ended: unknown[] = [];
  const served: Breakable = { broke: (error) => ended.push(error) };
  const fault = new Error(exception);
  const throwing = guarded(served, () => {
    throw fault;
  });
  throwing();
  t.same(ended, [fault]);
  class Served implements Breakable {
    asked = 0;
    broke(error: unknown): void {
      ended.push(error);
    }
    ask(fails: boolean): number {
      if (fails) throw fault;
      return ++this.asked;
    }
  }
  guardMethods(Served, -1, 'ask');
  const each = new Served();
  t.equal(each.ask(false), 1);
  t.equal(each.ask(true), -1);
  t.equal(ended.length, 2);
  t.end();
});

t.test(
  'if a turn cannot be written down its requests go out alone or end; the next one goes on',
  async (t) => {
    for (const [failures, outcome] of [
      [1, 'send'],
      [3, 'end'],
    ] as const) {
      let left: number = failures;
      const commit = (): void => {
        if (left-- > 0) throw new Error(exception);
      };
      const [steps, reported]: [string[], unknown[]] = [[], []];
      const handOvers = new HandOvers({ commit }, (error) => reported.push(error));
      const enter = (name: string): void =>
        handOvers.enter({
          mayStillSend: () => true,
          depart: () => steps.push(`send ${name}`),
          broke: () => steps.push(`end ${name}`),
        });
      for (const name of ['a', 'b']) enter(name);
      await new Promise(setImmediate);
      enter('c');
      await new Promise(setImmediate);
      t.same(steps, [`${outcome} a`, `${outcome} b`, 'send c']);
      t.same(reported, [new Error(exception)]);
    }
  },
);
