/** A TCP proxy on loopback that can cut and stall what goes through it. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Scope } from '../../../support/servers.ts';

export class TcpProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #server: Server;
  #stalled = false;

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
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** From now on nothing gets through, in either direction; connections stay open, and new ones are accepted. */
  stall(): void {
    this.#stalled = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** What was held back goes on. */
  resume(): void {
    this.#stalled = false;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
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
      from.on('data', (chunk) => to.write(chunk));
      from.on('end', () => to.end());
      from.on('error', () => undefined);
      from.on('close', () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
    }
    if (this.#stalled) for (const socket of pair) socket.pause();
  }
}
