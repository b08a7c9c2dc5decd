import type { Socket } from 'node:net';
import type { Problem } from '../domain/problem.ts';
import { breakConnection, Fault, guarded, guardMethods, type Breakable } from '../http/guarded.ts';
import type { HoldsFor } from '../http/client-request.ts';
import { hangUp, mostDiscarded, resetConnection } from '../http/hang-up.ts';
import { Patience } from '../http/patience.ts';
import { networkOf } from '../http/trusted-proxies.ts';
import { headByteWork, noteWork, pieceWork, requestWork, restsAfter, restsBefore } from '../http/turn.ts';
import { freeBytes, unreadBytes, unsentBytes } from '../http/socket-bytes.ts';
import { HeadTooLong } from '../http1/head-text.ts';
import { MessageFault } from '../http1/message-fault.ts';
import { RequestReader } from '../http1/request-reader.ts';
import type { HeldConnection } from '../limits/held-bytes.ts';
import type { ReceivedHead } from '../ports/request-record.ts';
import type { Served, ServingConnection } from './served.ts';
import { ServedRequest } from './served-request.ts';

/**
 * If this many bytes are waiting behind a request, the gateway stops reading from the connection. Reading resumes once
 * they are wanted. Bytes arrive in chunks of up to 64 KB, so more bytes may be waiting. While fewer bytes are waiting,
 * the gateway keeps reading, so it notices when the client disconnects.
 */
const mostWaitingBytes = 16 * 1024;

/** Maximum time for receiving a whole request, in milliseconds. `bodyIdleMs` limits the pauses in its body. */
const requestTimeoutMs = 3_600_000;

/** Number of bytes of a head that counts as held as soon as it has been read. Others count with the next check. */
const longHeadBytes = 4 * 1024;

/**
 * A client's connection. It reads and serves one request at a time: the next head is read once the response to the
 * previous request has been sent, so a DELETE sent after a PUT cannot overtake the PUT (RFC 9112 §9.3.2). Until then,
 * what follows waits as raw bytes.
 */
export class ClientConnection implements ServingConnection, HeldConnection, Breakable {
  readonly socket: Socket;
  readonly served: Served;
  counted = 0;
  countsAsStranger = false;
  readonly #reader = new RequestReader();
  /** Bytes that have arrived; those before {@link #at} have been read. */
  #bytes: Buffer | null = null;
  #at = 0;
  /** The request being served, until its response has been sent and its body has arrived. */
  #current: ServedRequest | null = null;
  /** Whether the connection has been given to another protocol, by the current request. */
  #isReleased = false;
  /** Whether the connection serves no more requests. */
  #over = false;
  /** Whether a request has been read. */
  #hasServed = false;
  #isReading = false;
  #isPaused = false;
  /** Whether nothing is read until a later turn of the event loop. */
  #rests = false;
  /** Whether the client has sent its last byte while the connection rested. */
  #hasEnded = false;
  /**
   * Monotonic time since which the client is awaited: its next request, the rest of a head, or of a body. `null` until
   * {@link check} has noticed, which spares each request from reading the clock.
   */
  #sinceMs: number | null = null;
  /** For a client that reads a response that no exchange watches; `null` before bytes have waited for it. */
  #patience: Patience | null = null;
  /** Monotonic time from which the connection is old; `null` until the first {@link check}. */
  #oldAtMs: number | null = null;
  #isOld = false;
  /** Progress of a body that is discarded after its response; `null` otherwise. */
  #discarded: { bytes: number; latestMs: number; readonly sinceMs: number } | null = null;

  constructor(socket: Socket, served: Served) {
    this.socket = socket;
    this.served = served;
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onClose);
  }

  /** Whether no request, and no part of one, has arrived that is not answered. */
  get isIdle(): boolean {
    return this.#current === null && !this.#reader.inHead && this.#bytes === null;
  }

  /**
   * Request that the connection would lose if it were closed now: one of a stranger, one to keep (of a known caller, a
   * stream or a WebSocket), or none. A request whose response has been sent counts no longer.
   */
  get use(): 'none' | 'stranger' | 'kept' {
    const current = this.#current;
    if (current === null) return this.#rests ? 'stranger' : 'none';
    if (this.#isReleased) return 'kept';
    if (this.holdsFor !== null) return 'kept';
    if (this.#over || this.#discarded !== null) return 'none';
    return current.response.isStream ? 'kept' : 'stranger';
  }

  /** Request under way, or the one that opened a WebSocket; otherwise only the connection. */
  get latest(): ReceivedHead {
    return this.#current ?? { rawHeaders: [], socket: this.socket };
  }

  get leavesNow(): boolean {
    return (this.served.leaving || this.#isOld) && (this.#bytes === null || !this.#reader.complete);
  }

  get isComplete(): boolean {
    return this.#reader.complete;
  }

  readonly #onData = guarded(this, (chunk: Buffer) => {
    if (this.#bytes === null) {
      this.#bytes = chunk;
    } else {
      this.#bytes = Buffer.concat([this.#bytes.subarray(this.#at), chunk]);
    }
    this.#at = 0;
    const { chunks } = this.#reader;
    const { length } = chunk;
    this.read();
    if (this.#reader.complete) return;
    const work = length + pieceWork * (this.#reader.chunks - chunks);
    if (!restsAfter(work, this.#goOn, this)) return;
    this.#rests = true;
    this.#pauseIfFull();
  });

  readonly #goOn = guarded(this, () => {
    this.#rests = false;
    this.read();
    if (this.#hasEnded && !this.#rests) this.#onEnd();
  });

  read(): void {
    // What a fault has left of the bytes must not be read again before the event `close`.
    if (this.#isReading || this.socket.destroyed) return;
    this.#isReading = true;
    try {
      while (this.#bytes !== null && !this.#rests && !this.#over && this.#step());
    } catch (error) {
      if (!(error instanceof MessageFault)) throw error;
      this.#reject(error);
    } finally {
      this.#isReading = false;
    }
    this.#pauseIfFull();
    const { complete, headBytes } = this.#reader;
    if (this.counted > 0 || this.#bytes !== null || !complete || headBytes > longHeadBytes) this.countHeld();
  }

  /** Reads one part of a request. Returns `false` if no more is wanted now. */
  #step(): boolean {
    const bytes = this.#bytes as Buffer;
    const current = this.#current;
    if (current === null) {
      this.#rests = restsBefore(requestWork, this.#goOn, this);
      if (this.#rests) return false;
      const wasInHead = this.#reader.inHead;
      const head = this.#reader.readHead(bytes, this.#at, this.served.limits.maxHeaderBytes);
      this.#advance(bytes, this.#reader.at);
      if (head === null) {
        if (!wasInHead && this.#reader.inHead) this.#sinceMs = null;
        return false;
      }
      const request = new ServedRequest(this, head);
      this.#current = request;
      noteWork(requestWork + headByteWork * this.#reader.headBytes, this.#goOn);
      this.#hasServed = true;
      this.served.application.request(request, request.response);
      return true;
    }
    if (this.#reader.complete || !(current.wantsBody || current.mayReadAhead)) return false;
    const { length } = bytes;
    // Before the offset may be the end of a previous request's body, which may still be on its way.
    const isAllOfThis = this.#at === 0;
    const at = this.#reader.readBody(bytes, this.#at, current.takeBytes);
    this.#advance(bytes, at);
    if (isAllOfThis && at === length && current.hasPassedOn) freeBytes(bytes);
    if (this.#reader.complete) this.#bodyEnded(current);
    return true;
  }

  #advance(bytes: Buffer, at: number): void {
    if (at === bytes.length) this.#bytes = null;
    else this.#at = at;
  }

  #bodyEnded(current: ServedRequest): void {
    if (this.#discarded === null) return current.bodyEnded();
    this.#discarded = null;
    this.#next();
  }

  /** Pauses the socket while {@link mostWaitingBytes} wait, and while the connection rests from a body. */
  #pauseIfFull(): void {
    if (this.#over) return;
    const waiting = this.#bytes === null ? 0 : this.#bytes.length - this.#at;
    const isFull = waiting >= mostWaitingBytes || (this.#rests && waiting === 0);
    if (isFull !== this.#isPaused) {
      this.#isPaused = isFull;
      if (this.#isPaused) this.socket.pause();
      else this.socket.resume();
      this.countHeld();
    }
  }

  responded(): void {
    if (this.socket.writableLength === 0) return this.#sent();
    this.countHeld();
    const written = guarded(this, (error?: Error | null) => {
      if (!error) this.#sent();
    });
    this.socket.write('', 'latin1', written);
  }

  #sent(): void {
    const current = this.#current;
    if (current === null || this.#over || this.socket.destroyed) return;
    current.response.close(true);
    if (current.response.last) return this.hangUp();
    if (this.#reader.complete) return this.#next();
    const nowMs = this.served.clock.monotonicMs();
    this.#discarded = { bytes: 0, latestMs: nowMs, sinceMs: nowMs };
    current.discardBody();
    this.#readSoon();
  }

  discard(bytes: number): void {
    if (this.#discarded === null) return;
    this.#discarded.bytes += bytes;
    this.#discarded.latestMs = this.served.clock.monotonicMs();
    if (this.#discarded.bytes > mostDiscarded.bytes) this.socket.destroy();
  }

  #next(): void {
    this.#current = null;
    this.#sinceMs = null;
    if (this.counted > 0) this.countHeld();
    this.#readSoon();
  }

  /** Reads on once the caller has finished: it may have more to do before the next request is served. */
  #readSoon(): void {
    if (this.#bytes !== null && !this.#isReading) process.nextTick(guarded(this, () => this.read()));
    else this.#pauseIfFull();
  }

  /** Answers bytes that are no request with a problem, and closes the connection. */
  #reject(fault: MessageFault): void {
    const tooLong = fault instanceof HeadTooLong;
    this.#rejectWith(tooLong ? tooLarge : unreadable, this.#reader.readsHead);
  }

  #rejectWith(problem: Problem, toHead: boolean): void {
    const current = this.#current;
    // A second response would be taken for the response to another request.
    if (this.#discarded !== null) return this.hangUp();
    if (current?.response.isBegun === true) return void this.socket.destroy();
    current?.response.close(false);
    const isHead = current === null ? toHead : current.method === 'HEAD';
    if (this.socket.writable) this.socket.write(this.served.application.rawProblem(problem, isHead));
    this.hangUp();
  }

  /** Serves no more requests. The connection ends once the client has read everything. */
  hangUp(): void {
    if (this.#over) return;
    this.#letGo();
    hangUp(this.socket, this);
  }

  #letGo(): void {
    this.#over = true;
    this.socket.off('data', this.#onData).off('end', this.#onEnd);
  }

  release(): Buffer {
    this.#isReleased = true;
    this.#letGo();
    const rest = this.#bytes === null ? Buffer.alloc(0) : this.#bytes.subarray(this.#at);
    this.#bytes = null;
    return rest;
  }

  /** Ends the connection if the client has kept it waiting for too long. @param nowMs monotonic time */
  check(nowMs: number): void {
    if (this.counted > 0 || this.#current !== null || this.#reader.inHead) this.countHeld();
    // The client has sent its request. It waits for the gateway, which reads it in a later turn.
    if (this.#over || (this.#rests && this.#current === null)) return;
    const { headTimeoutMs, keepAliveMs, clientConnectionAgeMs } = this.served.limits;
    const { bodyIdleMs, minBodyBytesPerMinute } = this.served.limits;
    this.#oldAtMs ??= nowMs + clientConnectionAgeMs * (0.8 + 0.4 * Math.random());
    this.#isOld = nowMs >= this.#oldAtMs && !this.served.application.isTrusted(this.socket);
    this.#sinceMs ??= nowMs;
    const waitedMs = nowMs - this.#sinceMs;
    const isUnread = this.#current?.response.waitsForClient === true;
    if (isUnread) this.#patience ??= new Patience(bodyIdleMs, minBodyBytesPerMinute);
    const { socket } = this;
    if (this.#patience?.isOver(isUnread, socket.bytesWritten - socket.writableLength, nowMs))
      return void socket.destroy();
    if (this.#current === null) {
      if (this.#reader.inHead || !this.#hasServed) {
        if (waitedMs > headTimeoutMs) this.#rejectWith(tooLate, this.#reader.readsHead);
      } else if (waitedMs > keepAliveMs) this.hangUp();
    } else if (this.#discarded !== null) {
      const { latestMs, sinceMs } = this.#discarded;
      if (nowMs - latestMs > mostDiscarded.silentMs || nowMs - sinceMs > mostDiscarded.ms) this.hangUp();
    } else if (!isUnread && !this.#reader.complete && waitedMs > requestTimeoutMs)
      this.#rejectWith(tooLate, false);
  }

  countHeld(): void {
    this.served.held.count(this, this.socket.destroyed ? 0 : this.#heldBytes());
  }

  #heldBytes(): number {
    const request = this.#current;
    const head = request === null && !this.#reader.inHead ? 0 : this.#reader.headBytes;
    const inSocket = unsentBytes(this.socket) + unreadBytes(this.socket);
    return head + inSocket + (this.#bytes?.length ?? 0) + (request?.heldBytes ?? 0);
  }

  get holdsFor(): HoldsFor | null {
    return this.#current?.holder?.holdsFor ?? null;
  }

  get network(): string {
    return networkOf(this.served.application.addressOf(this.latest));
  }

  cut(): void {
    this.#current?.holder?.dropped();
    resetConnection(this.socket);
    // All other connections may be read before the event `close` comes.
    if (this.#bytes !== null && this.#current?.bodyLength === 0) freeBytes(this.#bytes);
    this.#end();
  }

  /**
   * The client sends no more. It waits for no response either, as far as can be told, but a request that the gateway
   * itself carries out is answered.
   */
  readonly #onEnd = guarded(this, () => {
    if (this.#over) return;
    if (this.#rests) {
      this.#hasEnded = true;
      return;
    }
    const current = this.#current;
    if (this.#discarded !== null) this.hangUp();
    else if (current?.response.isEnded === true || (current?.isAnsweredAnyway && this.#reader.complete))
      current.response.last = true;
    else if (current !== null) this.socket.destroy();
    else if (this.#reader.inHead) this.#rejectWith(unreadable, this.#reader.readsHead);
    else this.socket.end();
  });

  readonly #onClose = guarded(this, () => {
    if (!this.#isReleased) this.#end();
    this.countHeld();
  });

  /** The connection tells the exchange under way that its client has gone. */
  #end(): void {
    this.#over = true;
    this.#bytes = null;
    this.#current?.response.close(false);
    this.#current = null;
  }

  broke(error: unknown): void {
    if (error instanceof Fault) this.socket.destroy(error);
    else breakConnection(this.socket, error);
    // The event `close` does not come again, so this is the last chance to end the exchange.
    if (this.socket.closed) guarded({ broke: () => undefined }, () => this.#end())();
  }
}

guardMethods(ClientConnection, undefined, 'read', 'responded', 'check', 'hangUp', 'cut');

const unreadable: Problem = { code: 'invalid_request', detail: 'The request is not valid HTTP/1.1.' };
const tooLarge: Problem = { code: 'headers_too_large', detail: 'The request headers are too large.' };
const tooLate: Problem = { code: 'request_timeout', detail: 'The request did not arrive in time.' };
