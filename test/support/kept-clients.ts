/** Clients that keep their connections, each sending one request after the other until it is told that one was the last. */
import { connect } from 'node:net';
import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { certificate } from './config-certificates.ts';
import { RawClient, type RawResponse } from './raw-client.ts';
import type { Scope } from './servers.ts';

export interface KeptClientPlan {
  readonly port: number;
  readonly tls: boolean;
  /** Written at once, one behind the other; each must be told apart by its path. */
  readonly batch: readonly string[];
  /** Awaited before each batch but the first. */
  readonly pause?: () => Promise<unknown>;
}

export interface KeptClientOutcome {
  /** Responses with status 200. */
  served: number;
  /** Requests behind the last response: a server that sends `Connection: close` says that it did not process them. */
  unprocessed: number;
  /** Anything else: a reset, an end without a word, another status. */
  readonly failures: string[];
}

/** A client that goes on until it is told to leave, and how it went until now. */
export function keptClient(
  t: Scope,
  plan: KeptClientPlan,
): { readonly outcome: KeptClientOutcome; readonly told: Promise<void> } {
  const outcome: KeptClientOutcome = { served: 0, unprocessed: 0, failures: [] };
  const told = run(t, plan, outcome).catch((error: unknown) => void outcome.failures.push(String(error)));
  return { outcome, told };
}

async function run(
  t: Scope,
  { port, tls, batch, pause }: KeptClientPlan,
  outcome: KeptClientOutcome,
): Promise<void> {
  const client = await connected(t, port, tls);
  for (;;) {
    client.send(batch.join(''));
    for (const [position, request] of batch.entries()) {
      const response = await client.response();
      if (response.status === 200) outcome.served += 1;
      else outcome.failures.push(`${request.split('\r\n')[0]}: ${response.status} ${response.body}`);
      if (!isLast(response)) continue;
      outcome.unprocessed += batch.length - position - 1;
      return client.end();
    }
    await pause?.();
  }
}

function isLast({ headers }: RawResponse): boolean {
  return headers['connection']?.toLowerCase() === 'close';
}

async function connected(t: Scope, port: number, tls: boolean): Promise<RawClient> {
  const socket = tls
    ? connectTls({ port, host: '127.0.0.1', ca: certificate.a.cert, servername: 'localhost' })
    : connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  await once(socket, tls ? 'secureConnect' : 'connect');
  return new RawClient(socket);
}
