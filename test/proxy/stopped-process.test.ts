// class: app
/** A process that is stopped between a decision and the write that acts on it, and goes on when the lease has ended. */
import t from 'tap';
import type { Directory } from '../../src/ports/directory.ts';
import type { FactKey, FactValue } from '../../src/ports/facts.ts';
import { makePieces } from '../support/coherence/pieces.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';
import type { Scope } from '../support/servers.ts';

const leaseMs = 1_200;

/**
 * A gateway with a real lease. Its clocks jump past the lease right behind each of the next `left` decisions; with `atWrites`
 * the lease has ended before each write.
 */
async function startStoppable(t: Scope) {
  const pieces = await makePieces({ leaseMs });
  const { time, log, source } = pieces;
  const stops = { left: 0, atWrites: false, meanwhile: (): void => undefined };
  const upstream = await startUpstream(t);
  const stopAfter = <Decision>(decision: Decision | undefined): Decision | undefined => {
    if (decision !== undefined && stops.left > 0) {
      stops.left -= 1;
      stops.meanwhile();
      time.pause(leaseMs);
    }
    return decision;
  };
  const real = pieces.directory;
  const directory: Directory = {
    decide: (evaluate) => stopAfter(real.decide(evaluate)),
    factsVersion: () => real.factsVersion(),
    mayPass: () => real.mayPass(),
    mayAct: () => !stops.atWrites && real.mayAct(),
    lookUp: () => {
      const lookup = real.lookUp();
      return { decide: (evaluate) => stopAfter(lookup.decide(evaluate)), load: () => lookup.load() };
    },
    onRevoked: (listener) => real.onRevoked(listener),
    onKeysChanged: (listener) => real.onKeysChanged(listener),
    onEnded: (listener) => real.onEnded(listener),
  };
  const gateway = await startGateway(t, {
    routes: { '/': upstream.url },
    directory: () => directory,
  });
  for (const [key, value] of gateway.directory.facts) source.facts.set(key, value);
  const settled = <T>(response: Promise<T>): Promise<T> => time.until(response);
  t.teardown(() => pieces.lease.stop());
  // The facts are in memory from here on, and a connection to the upstream is open.
  await settled(gateway.call('POST', '/warm'));
  const change = ([key, value]: readonly [FactKey, FactValue]): void => {
    source.facts.set(key, value);
    source.seq += 1;
    log.reading = {
      ...log.reading,
      seq: source.seq,
      entries: [{ seq: source.seq, key, revoked: true }],
    };
  };
  return { ...gateway, upstream, stops, log, settled, change };
}

for (const [what, body] of [
  ['without a body', ''],
  ['with a short body', 'body'],
  ['with a long one', 'x'.repeat(300_000)],
] as const) {
  t.test(`a request ${what} that was decided before a revoke is not sent after its 2xx`, async (t) => {
    const { call, parent, upstream, stops, settled, change } = await startStoppable(t);
    const before = upstream.heads;
    stops.left = 1;
    stops.meanwhile = () => change(parent.revoked);
    const response = await settled(call('POST', '/', { body }));
    t.match(response, { status: 401, code: 'api_key_revoked' });
    t.equal(upstream.heads, before, 'nothing reached the upstream');
  });

  t.test(`one ${what} that is still permitted is decided anew, and sent once, whole`, async (t) => {
    const { call, upstream, stops, settled, finished } = await startStoppable(t);
    const before = upstream.heads;
    stops.left = 1;
    const response = await settled(call('POST', '/', { body }));
    t.equal(response.status, 200);
    t.equal(upstream.heads, before + 1);
    t.equal(upstream.received.at(-1)?.body.toString(), body);
    t.equal(finished.at(-1)?.status, 200);
    t.equal(stops.left, 0);
  });
}

t.test('without the store it is 503', async (t) => {
  const { call, upstream, stops, log, settled } = await startStoppable(t);
  const before = upstream.heads;
  stops.left = 1;
  stops.meanwhile = () => (log.failure = new Error('away'));
  const response = await settled(call('GET', '/'));
  t.match(response, { status: 503, code: 'unavailable' });
  t.equal(upstream.heads, before);
});

t.test('a process that is stopped again and again is not kept at it for ever', async (t) => {
  const { call, upstream, stops, settled } = await startStoppable(t);
  const before = upstream.heads;
  stops.atWrites = true;
  t.equal((await settled(call('GET', '/'))).status, 503);
  t.equal(upstream.heads, before);
});
