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

const none: readonly Buffer[] = [];

/** Streams a request's body to the upstream, as fast as the upstream takes it. */
export class StreamedBody implements BodyProgress, BodySource, BodyReader, Breakable {
  bytes = 0;
  starving = false;
  readonly length: number | undefined;
  readonly #request: ClientRequest;
  readonly #exchange: Breakable;
  readonly #begun: readonly Buffer[];
  #sink: BodySink | null = null;

  /**
   * @param length bytes; `undefined` for a chunked body
   * @param exchange exchange to end if a callback of this class throws
   * @param begun pieces of the body that have already been read
   */
  constructor(
    request: ClientRequest,
    length: number | undefined,
    exchange: Breakable,
    begun: readonly Buffer[] = none,
  ) {
    this.#request = request;
    this.#exchange = exchange;
    this.length = length;
    this.#begun = begun;
    for (const chunk of begun) this.bytes += chunk.length;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    for (const chunk of this.#begun) sink.write(chunk);
    this.starving = true;
    this.#request.readBody(this);
  }

  resume(): void {
    this.starving = true;
    this.#request.resumeBody();
  }

  destroy(): void {
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
