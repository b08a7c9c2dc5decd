import { unavailable, storeFailure } from './failure.ts';
import type { Connect, ConnectionExtra, Sql, Work } from './sql.ts';

/**
 * One connection with a deadline on this side: for one transaction, or for statements that follow each other without
 * waiting for the results of those before.
 *
 * A server that is frozen or cut off sends nothing, not even an error, and the client library would wait for ever.
 * So when the deadline passes, the call fails and the connection is replaced; the statement may still take effect, as
 * with any connection that breaks.
 */
export class Connection {
  readonly #connect: Connect;
  readonly #extra: ConnectionExtra;
  #sql: Sql | undefined;
  #running = 0;
  /** How many commits were reported to be on this server alone. */
  #unreplicated = 0;
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
    const sql = (this.#sql ??= this.#open());
    this.#running += 1;
    const unreplicated = this.#unreplicated;
    let timer: NodeJS.Timeout | undefined;
    let running: PromiseLike<T> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        // The statement is still at work and needs its arguments.
        running = undefined;
        this.#giveUp(sql);
        reject(unavailable(new Error(`no response from the store within ${deadlineMs} ms`)));
      }, deadlineMs);
    });
    try {
      running = work(sql);
      const result = await Promise.race([running, late]);
      // The server sends the warning in one piece with the result, so it has been read by now.
      if (this.#unreplicated !== unreplicated) throw unavailable(new Error(notReplicated));
      return result;
    } catch (error) {
      if (isBroken(error)) this.#giveUp(sql);
      throw storeFailure(error);
    } finally {
      this.#running -= 1;
      clearTimeout(timer);
      releaseArguments(running);
    }
  }

  /** Which connection it is: another object once the one before was given up; `undefined` while there is none. */
  get current(): object | undefined {
    return this.#sql;
  }

  #open(): Sql {
    const sql = this.#connect({
      ...this.#extra,
      onclose: () => {
        // The server ended it between two statements, or it was idle for long. What postgres.js remembers of that would
        // fail the next statement.
        if (this.#running === 0) this.#giveUp(sql);
        this.#extra.onclose?.();
      },
      onnotice: (notice) => this.#note(notice),
    });
    return sql;
  }

  /**
   * An operator or a shutdown has ended the wait for the synchronous standby: the commit is on this server, and lost if the
   * standby takes over. The server calls that a success with a warning; no change may get its 2xx from it. The text of the
   * warning may be in any language, so it is known by the server's function that sends it.
   */
  #note({ routine }: Readonly<Record<string, string>>): void {
    if (routine === 'SyncRepWaitForLSN') this.#unreplicated += 1;
  }

  /** Gives this connection up, unless that was done, without waiting for anything; the next run makes a new one. */
  #giveUp(sql: Sql): void {
    if (this.#sql === sql) this.#sql = undefined;
    sql.end({ timeout: 0 }).catch(() => undefined);
  }

  /** Closes the connection for good, after what runs on it or one second. */
  async close(): Promise<void> {
    this.#closed = true;
    const old = this.#sql;
    this.#sql = undefined;
    await old?.end({ timeout: 1 });
  }
}

const notReplicated = 'the commit may not have reached the synchronous standby';

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
 * Whether a connection is of no more use: it broke under a statement, or it leads to a standby. postgres.js would connect
 * again by itself, but remembers the last error of the server and fails the first statement on the new connection with it.
 */
function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && brokenCodes.has(error.code);
}

/**
 * A standby answers `read_only_sql_transaction` (25006) to what writes and to LISTEN, `object_not_in_prerequisite_state`
 * (55000) to what reads the write position (PostgreSQL, Appendix A). After a switchover the name of the database leads to the
 * demoted primary for some seconds; a connection made then stays there for good.
 */
const brokenCodes = new Set<unknown>(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '25006', '55000']);
