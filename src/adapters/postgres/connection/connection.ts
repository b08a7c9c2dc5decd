import { systemTimers } from '../../../ports/timers.ts';
import { unavailable, storeFailure } from './failure.ts';
import type { Connect, ConnectionExtra, Sql, Work } from './sql.ts';

/**
 * One connection, with deadlines that this process enforces. It runs one transaction at a time, or single statements
 * that are sent without waiting for the results of earlier ones.
 *
 * A server that is frozen or cut off sends nothing, not even an error, and the client library would wait forever. So
 * when the deadline passes, the call fails and the connection is replaced. The statement may still take effect, as on
 * any broken connection.
 */
export class Connection {
  readonly #connect: Connect;
  readonly #extra: ConnectionExtra;
  #sql: Sql | undefined;
  #running = 0;
  /** Number of commits that the server reported as possibly not replicated. */
  #unreplicated = 0;
  #closed = false;

  constructor(connect: Connect, extra: ConnectionExtra = {}) {
    this.#connect = connect;
    this.#extra = extra;
  }

  /**
   * Runs `work`; rejects with a `ProblemError` if it fails.
   * @param deadlineMs maximum duration in milliseconds, including the time to connect
   */
  async run<T>(work: Work<T>, deadlineMs: number): Promise<T> {
    if (this.#closed) throw unavailable(new Error('the store is closed'));
    const sql = (this.#sql ??= this.#open());
    this.#running += 1;
    const unreplicated = this.#unreplicated;
    let running: PromiseLike<T> | undefined;
    let callOff = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      callOff = systemTimers.after(deadlineMs, () => {
        // The late statement still needs its arguments, so `releaseArguments` must not get the statement.
        running = undefined;
        this.#giveUp(sql);
        reject(unavailable(new Error(`no response from the store within ${deadlineMs} ms`)));
      });
    });
    try {
      running = work(sql);
      const result = await Promise.race([running, late]);
      // The server sends a replication warning along with the result, so `#note` has already counted it.
      if (this.#unreplicated !== unreplicated) throw unavailable(new Error(notReplicated));
      return result;
    } catch (error) {
      if (isBroken(error)) this.#giveUp(sql);
      throw storeFailure(error);
    } finally {
      this.#running -= 1;
      callOff();
      releaseArguments(running);
    }
  }

  /** Identity of the current connection: a new object after each replacement; `undefined` while there is none. */
  get current(): object | undefined {
    return this.#sql;
  }

  #open(): Sql {
    const sql = this.#connect({
      ...this.#extra,
      onclose: () => {
        // If a connection closes while no statement is running, either the server closed it or it was idle for too
        // long. postgres.js would fail the next statement, so the connection is replaced.
        if (this.#running === 0) this.#giveUp(sql);
        this.#extra.onclose?.();
      },
      onnotice: (notice) => this.#note(notice),
    });
    return sql;
  }

  /**
   * Counts a commit that stopped waiting for the synchronous standby. An operator or a shutdown can end this wait
   * early. If the standby then takes over, the commit may be lost. The server reports success with a warning, but the
   * client must not get a 2xx. The warning may be in any language, so it is recognised by the name of the server
   * function that issues it.
   */
  #note({ routine }: Readonly<Record<string, string>>): void {
    if (routine === 'SyncRepWaitForLSN') this.#unreplicated += 1;
  }

  /**
   * Closes a connection immediately, so that the next `run` opens a new one. If the connection has already been
   * replaced, its replacement stays.
   */
  #giveUp(sql: Sql): void {
    if (this.#sql === sql) this.#sql = undefined;
    sql.end({ timeout: 0 }).catch(() => undefined);
  }

  /** Closes the connection for good; a running statement gets one second to finish. */
  async close(): Promise<void> {
    this.#closed = true;
    const old = this.#sql;
    this.#sql = undefined;
    await old?.end({ timeout: 1 });
  }
}

const notReplicated = 'the commit may not have reached the synchronous standby';

/**
 * Frees the arguments of a statement that has ended. For each statement, postgres.js creates closures (such as
 * `resolve`), which V8 allocates in the old generation. The closures keep the statement and its arguments in memory
 * until V8 collects the old generation. In a flood of made-up keys, that would cost 100 bytes per key.
 */
function releaseArguments(statement: unknown): void {
  if (!(statement instanceof Promise)) return;
  if ('args' in statement) statement.args = [];
  if ('parameters' in statement) statement.parameters = [];
}

/**
 * Returns whether an error shows that the connection is unusable, because it broke during a statement or leads to a
 * standby. Such a connection is replaced: postgres.js would reconnect on its own, but would then fail the next
 * statement with the old connection's last error.
 */
function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && brokenCodes.has(error.code);
}

/**
 * Error codes of broken connections and of standbys. A standby rejects writes and LISTEN with
 * `read_only_sql_transaction` (25006), and reads of its write position with `object_not_in_prerequisite_state` (55000);
 * see PostgreSQL, Appendix A. After a switchover, the database's host name still points to the demoted primary for a
 * few seconds, and a connection opened in that time stays on the demoted primary.
 */
const brokenCodes = new Set<unknown>(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '25006', '55000']);
