import { Duplex } from 'node:stream';
import type { PGlite } from '@electric-sql/pglite';

/**
 * Connects postgres.js to PGlite in this process, without a network socket.
 *
 * PGlite has a single session, which all connections would share. One connection could then execute a statement that
 * another has prepared. So only one connection may be open at a time, and each new connection first clears the session.
 */
export class PgliteSocket extends Duplex {
  readonly #db: PGlite;
  #received: Buffer = Buffer.alloc(0);
  #started = false;

  constructor(db: PGlite) {
    super();
    this.#db = db;
  }

  /** State, as in `net.Socket`. postgres.js sends its last message (`X`) only while the state is `open`. */
  get readyState(): 'open' | 'closed' {
    return this.destroyed ? 'closed' : 'open';
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    this.#runWholeMessages().then(() => done(), done);
  }

  override _read(): void {
    // Nothing to do: responses are pushed as soon as they arrive.
  }

  override _final(done: () => void): void {
    done();
    this.destroy();
  }

  async #runWholeMessages(): Promise<void> {
    if (!this.#started) await clearSession(this.#db);
    for (;;) {
      const message = this.#takeMessage();
      if (message === undefined || this.destroyed) return;
      if (message[0] === terminate) {
        this.destroy();
        return;
      }
      const response = await this.#db.runExclusive(() => this.#db.execProtocolRaw(message));
      if (response.length > 0 && !this.destroyed) this.push(response);
    }
  }

  /**
   * Removes the next complete message of PostgreSQL's frontend protocol from the received bytes and returns it;
   * `undefined` if there is none yet. The first message on a connection has no type byte before its length.
   */
  #takeMessage(): Buffer | undefined {
    const lengthAt = this.#started ? 1 : 0;
    if (this.#received.length < lengthAt + 4) return undefined;
    const end = lengthAt + this.#received.readInt32BE(lengthAt);
    if (this.#received.length < end) return undefined;
    const message = this.#received.subarray(0, end);
    this.#received = this.#received.subarray(end);
    this.#started = true;
    return message;
  }
}

/** Type byte of the message that ends a session. PGlite must not get this message, because it would shut down. */
const terminate = 'X'.charCodeAt(0);

/** Clears the session, which the previous connection may have left in the middle of a transaction. */
async function clearSession(db: PGlite): Promise<void> {
  if (db.isInTransaction()) await db.exec('rollback');
  await db.exec('discard all');
}
