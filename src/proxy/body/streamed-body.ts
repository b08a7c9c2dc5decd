import type { IncomingMessage } from 'node:http';
import { guarded, guardedOn, type Breakable } from '../../http/guarded.ts';
import { mostDiscarded } from '../../http/hang-up.ts';
import { sendContinue } from '../ingress/expect-continue.ts';
import type { BodySink, BodySource } from '../upstream/message-head.ts';

/** Progress of a request's body. */
export interface BodyProgress {
  /** Number of bytes received so far. */
  readonly bytes: number;
  /** Whether the gateway is waiting for the client to send more. */
  readonly starving: boolean;
  /** Stops reading. */
  destroy(): void;
}

const none: readonly Buffer[] = [];

/** Streams a request's body to the upstream, as fast as the upstream takes it. */
export class StreamedBody implements BodyProgress, BodySource {
  bytes = 0;
  starving = false;
  readonly length: number | undefined;
  readonly #request: IncomingMessage;
  readonly #begun: readonly Buffer[];
  #sink: BodySink | null = null;
  readonly #onData: (chunk: Buffer) => void;
  readonly #onEnd: () => void;

  /**
   * @param length bytes; `undefined` for a chunked body
   * @param exchange exchange to end if a callback of this class throws
   * @param begun pieces of the body that have already been read
   */
  constructor(
    request: IncomingMessage,
    length: number | undefined,
    exchange: Breakable,
    begun: readonly Buffer[] = none,
  ) {
    this.#request = request;
    this.#onData = guarded(exchange, (chunk: Buffer) => this.#take(chunk));
    this.#onEnd = guarded(exchange, () => this.#end());
    this.length = length;
    this.#begun = begun;
    for (const chunk of begun) this.bytes += chunk.length;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    sendContinue(this.#request);
    for (const chunk of this.#begun) sink.write(chunk);
    this.#request.on('data', this.#onData).on('end', this.#onEnd);
    this.resume();
  }

  resume(): void {
    this.starving = true;
    this.#request.resume();
  }

  destroy(): void {
    if (this.#sink === null) return;
    this.#sink = null;
    this.starving = false;
    this.#request.off('data', this.#onData).off('end', this.#onEnd).pause();
  }

  #take(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#sink?.write(chunk) === true) return;
    this.starving = false;
    this.#request.pause();
  }

  #end(): void {
    this.starving = false;
    this.#sink?.end();
  }
}

/**
 * Reads and discards the rest of a request after its response. If the gateway closed the connection instead, the client
 * could lose the response before reading it. A client that sends more than {@link mostDiscarded} allows, or takes too
 * long, is cut off.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) {
    request.resume();
    return;
  }
  const { socket } = request;
  let discarded = 0;
  const cut = guardedOn(socket, () => void socket.destroy());
  const timer = setTimeout(cut, mostDiscarded.ms).unref();
  const count = (chunk: Buffer): void => {
    discarded += chunk.length;
    if (discarded > mostDiscarded.bytes) socket.destroy();
  };
  request.on('data', guardedOn(socket, count));
  const closed = (): void => clearTimeout(timer);
  request.on('close', guardedOn(socket, closed));
  request.resume();
}
