/** A TCP proxy on loopback that can cut, stall and delay what goes through it. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { resetConnection } from '../../../../src/http/hang-up.ts';
import type { Scope } from '../../../support/servers.ts';

/** The client of a connection, or the server behind the proxy. */
type End = 'client' | 'server';

export class TcpProxy {
  #target: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #server: Server;
  /** From which ends nothing is read. */
  #stalled: ReadonlySet<End> = new Set();
  #delayMs = 0;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async open(t: Scope): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    t.teardown(() => {
      this.#server.close();
      this.cut();
    });
    return this;
  }

  /** Ends every connection at once, as a firewall that loses its state would. */
  cut(): void {
    for (const [near, far] of this.#pairs) {
      resetConnection(near);
      resetConnection(far);
    }
  }

  /** From now on connections lead to another server. Those that are open are not touched. */
  leadTo(target: { readonly host: string; readonly port: number }): void {
    this.#target = target;
  }

  /** From now on nothing that these ends send gets through; connections stay open, and new ones are accepted. */
  stall(...ends: readonly End[]): void {
    this.#stalled = new Set(ends.length === 0 ? (['client', 'server'] as const) : ends);
    for (const pair of this.#pairs) this.#hold(pair);
  }

  /** From now on what is sent arrives that many milliseconds later, either way. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** What was held back goes on. */
  resume(): void {
    this.#stalled = new Set();
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  #hold([near, far]: readonly [Socket, Socket]): void {
    if (this.#stalled.has('client')) near.pause();
    if (this.#stalled.has('server')) far.pause();
  }

  #accept(near: Socket): void {
    const far = connect(this.#target);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (chunk) => {
        if (this.#delayMs === 0) to.write(chunk);
        else setTimeout(() => to.write(chunk), this.#delayMs);
      });
      from.on('end', () => to.end());
      from.on('error', () => undefined);
      from.on('close', () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
    }
    this.#hold(pair);
  }
}
