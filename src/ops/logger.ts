import pino, { type Logger } from 'pino';
import { systemTimers } from '../ports/timers.ts';
import { describeError } from './redact.ts';

export type { Logger };

/** The log of a process. */
export interface Log {
  readonly logger: Logger;
  /** Flushes buffered lines, then calls `done`, after {@link closeMs} at the latest. Later lines are dropped. */
  close(done: () => void): void;
}

/** Maximum time in milliseconds that an exiting process waits for its last log lines to be read. */
const closeMs = 1_000;
/**
 * Maximum number of bytes to buffer while nothing reads the log. Further lines are dropped, because the gateway matters
 * more than its log.
 */
const keptBytes = 16 * 2 ** 20;
/** Maximum number of bytes in one write: the capacity of a pipe. */
const writeBytes = 65_536;
/** A batch of request lines is written once it has this many characters. */
const batchLength = 8_192;
/** A batch of request lines is written once its first line is this many milliseconds old. */
const batchMs = 50;
/**
 * Maximum number of bytes per write if several processes share one output: PIPE_BUF. The kernel does not split a write
 * of this size, so lines of two processes do not mix.
 */
const sharedBytes = 4_096;

/**
 * Opens the process's log: one JSON object per line on standard output, written without blocking. Errors go through
 * {@link describeError}, so that they do not leak secrets.
 *
 * @param fd file descriptor to write to instead of standard output
 * @param worker number of this process if several write to one output; included in every line
 */
export function openLog(level: string, fd = 1, worker?: number): Log {
  const alone = worker === undefined;
  const maxWrite = alone ? writeBytes : sharedBytes;
  const output = pino.destination({ fd, sync: false, maxLength: keptBytes, maxWrite });
  // If the pipe is closed at the other end, the gateway carries on without a log.
  output.on('error', () => undefined);
  const lines = new Lines(output, alone ? batchLength : sharedBytes);
  const logger = pino(
    {
      level,
      base: alone ? null : { worker },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    lines,
  );
  let dropped = 0;
  output.on('drop', () => (dropped += 1));
  output.on('drain', () => {
    if (dropped === 0) return;
    logger.warn({ writes: dropped }, 'lines of this log were dropped: its reader does not keep up');
    dropped = 0;
  });
  let closing = false;
  return {
    logger,
    close: (done) => {
      if (closing) return;
      closing = true;
      lines.close();
      systemTimers.after(closeMs, done);
      output.once('close', done);
      // `flushSync` would lose lines that are currently being written.
      output.end();
    },
  };
}

/**
 * Returns a function that writes a complete line, including its line break. Lines are written in batches, up to
 * {@link batchMs} later, and stay in order with all other lines in the log. If the logger does not come from
 * {@link openLog}, each line is written at once.
 */
export function lineWriter(logger: Logger): (line: string) => void {
  // pino exposes its stream under this symbol.
  const stream = (logger as unknown as Record<symbol, Lines | pino.DestinationStream>)[
    pino.symbols.streamSym
  ];
  return stream instanceof Lines ? (line) => stream.writeSoon(line) : (line) => stream?.write(line);
}

/** Batches lines, because a write costs several times as much as building a line. */
class Lines {
  readonly #output: pino.DestinationStream;
  readonly #most: number;
  #batch = '';
  #callOff: (() => void) | null = null;
  #closed = false;

  constructor(output: pino.DestinationStream, most: number) {
    this.#output = output;
    this.#most = most;
  }

  write(line: string): void {
    this.#makeRoom(line);
    this.#batch += line;
    this.#flush();
  }

  writeSoon(line: string): void {
    this.#makeRoom(line);
    this.#batch += line;
    if (this.#batch.length >= this.#most) this.#flush();
    else this.#callOff ??= systemTimers.after(batchMs, () => this.#flush());
  }

  close(): void {
    this.#flush();
    this.#closed = true;
  }

  /** Flushes the batch if adding `line` would make the batch too long. */
  #makeRoom(line: string): void {
    if (this.#batch.length + line.length > this.#most) this.#flush();
  }

  #flush(): void {
    this.#callOff?.();
    this.#callOff = null;
    if (this.#batch !== '' && !this.#closed) this.#output.write(this.#batch);
    this.#batch = '';
  }
}
