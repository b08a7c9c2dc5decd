import type { BodyReader, ClientRequest } from '../../http/client-request.ts';
import { guardMethods, type Breakable } from '../../http/guarded.ts';
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

/** Part of a body that was held before it is streamed. */
export interface BegunBody {
  readonly pieces: readonly Buffer[];
  /** Called once the pieces are no longer held. Only the first call has an effect. */
  giveBack(): void;
}

const none: BegunBody = { pieces: [], giveBack: () => undefined };

/** Streams a request's body to the upstream, as fast as the upstream takes it. */
export class StreamedBody implements BodyProgress, BodySource, BodyReader, Breakable {
  bytes = 0;
  starving = false;
  readonly length: number | undefined;
  readonly #request: ClientRequest;
  readonly #exchange: Breakable;
  #begun: BegunBody;
  #sink: BodySink | null = null;

  /**
   * @param length bytes; `undefined` for a chunked body
   * @param exchange exchange to end if a callback of this class throws
   * @param begun part of the body that has already been read
   */
  constructor(
    request: ClientRequest,
    length: number | undefined,
    exchange: Breakable,
    begun: BegunBody = none,
  ) {
    this.#request = request;
    this.#exchange = exchange;
    this.length = length;
    this.#begun = begun;
    for (const piece of begun.pieces) this.bytes += piece.length;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    for (const piece of this.#begun.pieces) sink.write(piece);
    this.#forgetBegun();
    this.starving = true;
    this.#request.readBody(this);
  }

  resume(): void {
    this.starving = true;
    this.#request.resumeBody();
  }

  /** The pieces have gone out, or are not wanted any longer. */
  #forgetBegun(): void {
    this.#begun.giveBack();
    this.#begun = none;
  }

  destroy(): void {
    this.#forgetBegun();
    if (this.#sink === null) return;
    this.#sink = null;
    this.starving = false;
    this.#request.endBody();
  }

  onBytes(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#sink?.write(chunk) === true) return;
    this.starving = false;
    this.#request.pauseBody();
  }

  get hasPassedOn(): boolean {
    return this.#sink?.hasSentAll === true;
  }

  onBodyEnd(): void {
    this.starving = false;
    this.#sink?.end();
  }

  broke(error: unknown): void {
    this.#exchange.broke(error);
  }
}

guardMethods(StreamedBody, undefined, 'onBytes', 'onBodyEnd');
