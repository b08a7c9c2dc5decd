import type { Socket } from 'node:net';
import { closeFrame, FrameTracker } from './frames.ts';
import { hangUp } from '../ingress/half-close.ts';
import { IdleTimeout } from '../idle-timeout.ts';
import { mostUnsentBytes } from '../upstream/connection.ts';

/** A peer that is gone without a word is found out by the system, some minutes after this much silence. */
const keepAliveMs = 60_000;

/**
 * Two connections on which WebSocket frames go to and fro, byte for byte: extensions, fragments, pings and close codes
 * are between the two ends. It reads no faster than the other end takes, passes on the end of either direction, and
 * breaks off on both sides what breaks off on one.
 */
export class Tunnel {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #in: Flow;
  readonly #out: Flow;
  #ended = false;

  /**
   * @param idleMs for how long one end may take nothing of what waits for it
   * @param over called once, when both connections are closed
   */
  constructor(client: Socket, upstream: Socket, idleMs: number, over: () => void) {
    this.#client = client;
    this.#upstream = upstream;
    this.#in = new Flow(client, upstream, idleMs);
    this.#out = new Flow(upstream, client, idleMs);
    let open = 2;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.setTimeout(0).setNoDelay(true).setKeepAlive(true, keepAliveMs);
      socket.once('close', () => {
        const whole = socket.readableEnded && socket.writableFinished;
        if (!whole && !this.#ended) other.destroy();
        open -= 1;
        if (open === 0) over();
      });
    }
  }

  /** Bytes of messages from the client. */
  get bytesIn(): number {
    return this.#in.frames.messageBytes;
  }

  /** Bytes of messages to the client. */
  get bytesOut(): number {
    return this.#out.frames.messageBytes;
  }

  /** Lets bytes through from now on, those first that came in early. */
  open(fromClient: Buffer, fromUpstream: Buffer): void {
    this.#in.open(fromClient);
    this.#out.open(fromUpstream);
  }

  /**
   * Lets nothing through any more. The client is told why where its last frame is whole and has left; where a close
   * frame would end up within another frame, or behind bytes that wait, its connection is cut instead.
   */
  end(code: number, reason: string): void {
    this.#ended = true;
    this.#in.shut();
    this.#out.shut();
    this.#upstream.destroy();
    const { betweenFrames, closing } = this.#out.frames;
    if (!betweenFrames || closing || !this.#client.writable || this.#client.writableLength > 0) {
      this.#client.destroy();
    } else {
      this.#client.write(closeFrame(code, reason));
      hangUp(this.#client);
    }
  }

  /** Looks for an end that takes nothing, or does not end when the other one has. @param nowMs monotonic */
  stalled(nowMs: number): boolean {
    const stalledIn = this.#in.stalled(this.#upstream.readableEnded, nowMs);
    const stalledOut = this.#out.stalled(this.#client.readableEnded, nowMs);
    return stalledIn || stalledOut;
  }
}

/** One direction. */
class Flow {
  readonly frames = new FrameTracker();
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #watch: IdleTimeout;

  constructor(from: Socket, to: Socket, idleMs: number) {
    this.#from = from;
    this.#to = to;
    this.#watch = new IdleTimeout(idleMs);
  }

  open(first: Buffer): void {
    this.#from.on('data', this.#onData).on('end', this.#onEnd);
    this.#to.on('drain', this.#onDrain);
    if (first.length > 0) this.#onData(first);
    if (this.#to.writableLength < mostUnsentBytes) this.#from.resume();
  }

  shut(): void {
    this.#from.off('data', this.#onData).off('end', this.#onEnd);
    this.#to.off('drain', this.#onDrain);
  }

  stalled(otherEnded: boolean, nowMs: number): boolean {
    const waiting = this.#to.writableLength > 0 || (otherEnded && !this.#from.readableEnded);
    return this.#watch.expired(waiting, this.#to.bytesWritten, nowMs);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.frames.feed(chunk);
    this.#to.write(chunk);
    if (this.#to.writableLength >= mostUnsentBytes) this.#from.pause();
  };

  readonly #onEnd = (): void => void this.#to.end();

  readonly #onDrain = (): void => void this.#from.resume();
}
