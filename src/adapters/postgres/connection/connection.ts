import { unavailable, storeFailure } from './failure.ts';
import type { Connect, ConnectionExtra, Sql, Work } from './sql.ts';

/**
 * One connection, for one statement or transaction at a time, with a deadline on this side.
 *
 * A server that is frozen or cut off sends nothing, not even an error, and the client library would wait for ever.
 * So when the deadline passes, the call fails and the connection is replaced; the statement may still take effect, as
 * with any connection that breaks.
 */
export class Connection {
  readonly #connect: Connect;
  readonly #extra: ConnectionExtra;
  #sql: Sql | undefined;
  #closed = false;

  constructor(connect: Connect, extra: ConnectionExtra = {}) {
    this.#connect = connect;
    this.#extra = extra;
  }

  /**
   * Runs `work`; rejects with a `ProblemError`.
   * @param deadlineMs most milliseconds it may take, connecting included
   */
  async run<T>(work: Work<T>, deadlineMs: number): Promise<T> {
    if (this.#closed) throw unavailable(new Error('the store is closed'));
    const sql = (this.#sql ??= this.#connect(this.#extra));
    let timer: NodeJS.Timeout | undefined;
    let running: PromiseLike<T> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        // The statement is still at work and needs its arguments.
        running = undefined;
        this.recycle();
        reject(unavailable(new Error(`no response from the store within ${deadlineMs} ms`)));
      }, deadlineMs);
    });
    try {
      running = work(sql);
      return await Promise.race([running, late]);
    } catch (error) {
      if (isBroken(error)) this.recycle();
      throw storeFailure(error);
    } finally {
      clearTimeout(timer);
      releaseArguments(running);
    }
  }

  /** Gives the connection up without waiting for anything; the next run makes a new one. */
  recycle(): void {
    const old = this.#sql;
    this.#sql = undefined;
    old?.end({ timeout: 0 }).catch(() => undefined);
  }

  /** Closes the connection for good, after what runs on it or one second. */
  async close(): Promise<void> {
    this.#closed = true;
    const old = this.#sql;
    this.#sql = undefined;
    await old?.end({ timeout: 1 });
  }
}

/**
 * Takes the arguments from a statement that has ended. postgres.js gives each statement functions of its own
 * (`this.resolve = x => …`), which V8 allocates in the old generation. So the statement, and all it refers to, stays in
 * memory until that generation is collected: in a flood of made-up keys, 100 bytes for every one of them.
 */
function releaseArguments(statement: unknown): void {
  if (!(statement instanceof Promise)) return;
  if ('args' in statement) statement.args = [];
  if ('parameters' in statement) statement.parameters = [];
}

/**
 * Whether an open connection broke under a statement. postgres.js would connect again by itself, but remembers the
 * last error of the server and fails the first statement on the new connection with it.
 */
function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && brokenCodes.has(error.code);
}

const brokenCodes = new Set<unknown>(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE']);
