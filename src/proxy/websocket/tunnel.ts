import type { Socket } from 'node:net';
import { closeFrame, FrameTracker } from './frames.ts';
import { guarded, type Breakable } from '../../http/guarded.ts';
import { hangUp, resetConnection } from '../../http/hang-up.ts';
import { Patience } from '../../http/patience.ts';
import { writeAndFree } from '../../http/socket-bytes.ts';
import { restsAfter, pieceWork, type OfNetwork } from '../../http/turn.ts';
import { mostUnsentBytes } from '../upstream/connection.ts';

/**
 * Milliseconds of idle time after which the operating system probes the peer. If the peer does not reply for a few
 * minutes, the operating system closes the connection.
 */
const keepAliveMs = 60_000;

/** Owner of a tunnel. If the tunnel's code throws an exception, the tunnel calls `broke`. */
export interface TunnelUser extends Breakable, OfNetwork {
  /** Called if bytes have to wait for one of the two ends, and once they have gone. */
  countHeld(): void;
  /** Called before bytes are passed on. If it returns `false`, it has ended the tunnel. */
  mayPass(): boolean;
  /** Called once both connections are closed. */
  onClosed(): void;
}

/**
 * Passes WebSocket frames between two connections, byte for byte. Extensions, fragments, pings and close codes are left
 * to the two peers. The tunnel reads from one peer only as fast as the other takes the bytes. If one peer ends its
 * direction, the tunnel ends that direction for the other peer too. If one connection breaks, the tunnel closes both.
 */
export class Tunnel {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #in: Flow;
  readonly #out: Flow;
  readonly #exchange: TunnelUser;
  #ended = false;

  /** @param idleMs maximum number of milliseconds that one end may read nothing while bytes are waiting for it */
  constructor(client: Socket, upstream: Socket, idleMs: number, exchange: TunnelUser) {
    this.#client = client;
    this.#upstream = upstream;
    this.#exchange = exchange;
    this.#in = new Flow(client, upstream, idleMs, exchange);
    this.#out = new Flow(upstream, client, idleMs, exchange);
    let open = 2;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.setTimeout(0).setNoDelay(true).setKeepAlive(true, keepAliveMs);
      const closed = (): void => {
        open -= 1;
        const whole = socket.readableEnded && socket.writableFinished;
        if (!whole && !this.#ended) other.destroy();
        if (open === 0) exchange.onClosed();
      };
      socket.once('close', guarded(exchange, closed));
    }
  }

  /** Number of message payload bytes from the client. */
  get bytesIn(): number {
    return this.#in.frames.messageBytes;
  }

  /** Number of message payload bytes to the client. */
  get bytesOut(): number {
    return this.#out.frames.messageBytes;
  }

  /** Work for all frames so far, in bytes. */
  get work(): number {
    return this.#in.work + this.#out.work;
  }

  /** Stops reading from the ends that have sent since the latest call, or goes on. */
  hold(isHeld: boolean): void {
    this.#in.hold(isHeld);
    this.#out.hold(isHeld);
  }

  /** Starts passing bytes on, beginning with those that have already arrived. */
  open(fromClient: Buffer, fromUpstream: Buffer): void {
    this.#in.open(fromClient);
    this.#out.open(fromUpstream);
  }

  /**
   * Stops passing bytes on. The client gets a close frame if the last frame to it is complete and fully written.
   * Otherwise its connection is reset, because the close frame would land inside another frame or wait behind unsent
   * bytes.
   */
  end(code: number, reason: string): void {
    const { betweenFrames, closing } = this.#out.frames;
    if (!betweenFrames || closing || !this.#client.writable || this.#client.writableLength > 0) {
      return this.reset();
    }
    this.#shut();
    this.#client.write(closeFrame(code, reason));
    hangUp(this.#client, this.#exchange);
  }

  /** Stops passing bytes on, and resets both connections. */
  reset(): void {
    this.#shut();
    resetConnection(this.#client);
  }

  #shut(): void {
    this.#ended = true;
    this.#in.shut();
    this.#out.shut();
    resetConnection(this.#upstream);
  }

  /**
   * Whether one end has left bytes unread for too long, or has stayed open for too long after the other end closed.
   *
   * @param nowMs monotonic time
   */
  idle(nowMs: number): boolean {
    // Both directions are checked every time, because each has its own timeout.
    const [ofUpstream, ofClient] = [this.#upstream.readableEnded, this.#client.readableEnded];
    return [this.#in.idle(ofUpstream, nowMs), this.#out.idle(ofClient, nowMs)].includes(true);
  }
}

/** One direction of a tunnel. */
class Flow {
  readonly frames = new FrameTracker();
  work = 0;
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #patience: Patience;
  readonly #onData: (chunk: Buffer) => void;
  readonly #onEnd: () => void;
  readonly #goOn: () => void;
  readonly #exchange: TunnelUser;
  readonly #onRested: () => void;
  /** Whether nothing is read until a later turn of the event loop. */
  #rests = false;
  #isHeld = false;
  /** Work until the latest {@link hold}. */
  #workBefore = 0;

  constructor(from: Socket, to: Socket, idleMs: number, exchange: TunnelUser) {
    this.#from = from;
    this.#to = to;
    this.#onData = guarded(exchange, (chunk: Buffer) => this.#pass(chunk));
    this.#onEnd = guarded(exchange, () => void this.#to.end());
    this.#goOn = guarded(exchange, () => {
      if (!this.#rests && !this.#isHeld && this.#to.writableLength < mostUnsentBytes) this.#from.resume();
      exchange.countHeld();
    });
    this.#exchange = exchange;
    this.#onRested = guarded(exchange, () => {
      this.#rests = false;
      this.#goOn();
    });
    this.#patience = new Patience(idleMs);
  }

  open(first: Buffer): void {
    this.#from.on('data', this.#onData).on('end', this.#onEnd);
    this.#to.on('drain', this.#goOn);
    if (first.length > 0) this.#onData(first);
    this.#goOn();
  }

  hold(isHeld: boolean): void {
    const isSilent = this.work === this.#workBefore;
    this.#workBefore = this.work;
    if (isHeld === this.#isHeld || (isHeld && isSilent)) return;
    this.#isHeld = isHeld;
    if (!isHeld) return this.#goOn();
    this.#from.pause();
    this.#exchange.countHeld();
  }

  shut(): void {
    this.#from.off('data', this.#onData).off('end', this.#onEnd);
    this.#to.off('drain', this.#goOn);
  }

  idle(otherEnded: boolean, nowMs: number): boolean {
    const waiting = this.#to.writableLength > 0 || (otherEnded && !this.#from.readableEnded);
    return this.#patience.isOver(waiting, this.#to.bytesWritten, nowMs);
  }

  #pass(chunk: Buffer): void {
    if (!this.#exchange.mayPass()) return;
    const before = this.frames.frames;
    this.frames.feed(chunk);
    const { length } = chunk;
    writeAndFree(this.#to, chunk);
    const unsent = this.#to.writableLength;
    const work = length + pieceWork * (this.frames.frames - before);
    this.work += work;
    const rests = restsAfter(work, this.#onRested, this.#exchange);
    this.#rests ||= rests;
    if (rests || unsent >= mostUnsentBytes) this.#from.pause();
    if (rests || unsent > 0) this.#exchange.countHeld();
  }
}
