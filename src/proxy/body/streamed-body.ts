import type { BodyReader, ClientRequest } from '../../http/client-request.ts';
import { guardMethods, type Breakable } from '../../http/guarded.ts';
import type { BodySink, BodySource } from '../upstream/message-head.ts';

/** Progress of a request's body. */
export interface BodyProgress {
  /** Number of bytes received so far. */
  readonly bytes: number;
  /** Whether the gateway is waiting for the client to send more. */
  readonly starving: boolean;
  /** Number of bytes held in memory. */
  readonly heldBytes: number;
  /** Stops reading. */
  destroy(): void;
}

/** Exchange that a body belongs to. */
interface BodyOwner extends Breakable {
  /** Called before each piece is passed on. If it returns `false`, it has ended the exchange. */
  readonly mayPass: () => boolean;
}

/** Streams a request's body to the upstream, as fast as the upstream takes it. */
export class StreamedBody implements BodyProgress, BodySource, BodyReader, Breakable {
  bytes = 0;
  starving = false;
  readonly length: number | undefined;
  readonly #request: ClientRequest;
  readonly #exchange: BodyOwner;
  #begun: Buffer | null;
  #sink: BodySink | null = null;

  /**
   * @param length bytes; `undefined` for a chunked body
   * @param exchange exchange to end if a callback of this class throws
   * @param begun part of the body that has already been read
   */
  constructor(
    request: ClientRequest,
    length: number | undefined,
    exchange: BodyOwner,
    begun: Buffer | null = null,
  ) {
    this.#request = request;
    this.#exchange = exchange;
    this.length = length;
    this.#begun = begun;
    this.bytes = begun?.length ?? 0;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    if (this.#begun !== null) sink.write(this.#begun);
    this.#begun = null;
    this.starving = true;
    this.#request.readBody(this);
  }

  resume(): void {
    this.starving = true;
    this.#request.resumeBody();
  }

  get heldBytes(): number {
    return this.#begun?.length ?? 0;
  }

  destroy(): void {
    this.#begun = null;
    if (this.#sink === null) return;
    this.#sink = null;
    this.starving = false;
    this.#request.endBody();
  }

  onBytes(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (!this.#exchange.mayPass() || this.#sink?.write(chunk) === true) return;
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
