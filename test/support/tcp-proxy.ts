/** A TCP proxy on loopback that can cut, stall and divert what goes through it. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { resetConnection } from '../../src/http/hang-up.ts';
import type { Scope } from './servers.ts';

/** The client of a connection, or the server behind the proxy. */
type End = 'client' | 'server';

export class TcpProxy {
  #target: URL;
  #refuses = false;
  #delayMs = 0;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #server: Server;
  /** From which ends nothing is read. */
  #stalled: ReadonlySet<End> = new Set();

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Opens a way to the server of a URL, until the test ends. */
  static async open(t: Scope, url: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(url));
    const server = proxy.#server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => {
      server.close();
      proxy.cut();
    });
    return proxy;
  }

  /** The URL that it leads to, by way of it. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return Object.assign(new URL(this.#target), { hostname: '127.0.0.1', port: String(port) }).href;
  }

  /** Ends every connection at once, as a firewall that loses its state would. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) resetConnection(socket);
  }

  /** Ends every connection, and from now on new ones as well, until it is {@link mend}ed. */
  refuse(): void {
    this.#refuses = true;
    this.cut();
  }

  mend(): void {
    this.#refuses = false;
  }

  /** From now on connections lead to another server. Those that are open are not touched. */
  leadTo(url: string): void {
    this.#target = new URL(url);
  }

  /** Open connections carry nothing any more, without being closed, as when a machine between them forgets them. */
  silence(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
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
    if (this.#refuses) return void near.destroy();
    const far = connect(Number(this.#target.port), this.#target.hostname);
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
