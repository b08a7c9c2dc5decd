// class: night
/** A worker that is killed under load costs what it held, and nothing else. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { eventually } from '../../support/eventually.ts';
import { RawClient, requestText } from '../../support/raw-client.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { allReady, startWorkers } from '../../support/workers.ts';

const perSecond = 500;
const clients = 50;
const kills = 4;

interface Cut {
  /** Names the connection in the paths of its requests. */
  readonly connection: string;
  /** Which worker was killed last. */
  readonly victim: number;
}

t.test(`${perSecond} requests a second: only what the killed worker held is lost`, async (t) => {
  const upstream = await startUpstream(t);
  const { program, port, key, internalUrl, pids } = await startWorkers(t, {
    UPSTREAM_URL: upstream.url,
    // A machine that is too busy to renew leases in time is another matter.
    COHERENCE_LEASE_MS: '60000',
  });
  const load = startLoad(t, port, key);
  for (let i = 0; i < kills; i++) {
    const before = load.served();
    await eventually(() => load.served() > before + perSecond);
    const victims = pids();
    const victim = victims[0] as number;
    load.victim = victim;
    process.kill(victim, 'SIGKILL');
    await eventually(() => pids().length === 2 && !pids().includes(victim));
    await allReady(internalUrl, 2);
  }
  await load.stop();

  const slots = new Map(
    program
      .log()
      .filter(({ msg }) => msg === 'a worker is starting')
      .map(({ pid, worker }) => [pid, worker]),
  );
  const servedBy = new Map(
    program
      .log()
      .filter(({ msg }) => msg === 'request')
      .map(({ path, worker }) => [String(path).split('/')[1] ?? '', worker]),
  );
  t.same(load.wrong, [], 'no response is anything but 200');
  // A connection whose first request it was is in no line of the log: the worker took it, and died before it had responded.
  const others = load.cuts.filter(({ connection, victim }) => {
    const by = servedBy.get(connection);
    return by !== undefined && by !== slots.get(victim);
  });
  t.same(others, [], 'no connection to the other worker was cut');
  t.ok(load.cuts.length <= kills * clients, 'a connection is cut once at most in each');
  t.comment(`${load.served()} requests, ${load.cuts.length} cut by ${kills} kills`);
});

/** Clients that keep their connections, and make a new one where one is cut; every tenth request is on a new one. */
function startLoad(t: Test, port: number, key: string) {
  const [wrong, cuts]: [string[], Cut[]] = [[], []];
  let [served, connections, over] = [0, 0, false];
  const load = { wrong, cuts, victim: 0, served: () => served, stop };

  const running = Array.from({ length: clients }, async (_, i) => {
    await sleep((i * 1000) / perSecond);
    while (!over) await use(connect(port, '127.0.0.1'), `c${connections++}`);
  });

  /** As long as it lasts. */
  async function use(socket: ReturnType<typeof connect>, connection: string): Promise<void> {
    const client = new RawClient(socket);
    t.teardown(() => socket.destroy());
    try {
      await once(socket, 'connect');
    } catch (error) {
      wrong.push(String(error));
      return sleep(100);
    }
    for (let n = 0; n < 10 && !over; n++) {
      const dueMs = performance.now() + (1000 * clients) / perSecond;
      client.send(requestText('GET', `/${connection}/${n}`, [['Authorization', `Bearer ${key}`]]));
      try {
        const { status, body } = await client.response();
        if (status !== 200) wrong.push(`${status} ${body}`);
        served += 1;
      } catch {
        return void cuts.push({ connection, victim: load.victim });
      }
      await sleep(dueMs - performance.now());
    }
    socket.destroy();
  }

  async function stop(): Promise<void> {
    over = true;
    await Promise.all(running);
  }
  return load;
}
