import pino, { type Logger } from 'pino';
import { describeError } from './describe-error.ts';

export type { Logger };

/** Where log lines go. */
export interface Log {
  readonly logger: Logger;
  /** Writes out what is buffered, then calls `done`; what is logged after this is dropped. */
  close(done: () => void): void;
}

/** Longest wait for a reader of the log that has stopped reading. */
const closeMs = 1_000;
/** How much is kept for a reader that has stopped reading; more is dropped, for the gateway matters more than its log. */
const keptBytes = 16 * 2 ** 20;
/** Most that is written at a time: what a pipe holds. */
const writeBytes = 65_536;
/** Lines of requests are written together: so many characters of them, or after so long. */
const batchLength = 8_192;
const batchMs = 50;
/** Most that is written at a time where others write as well: the kernel does not cut what is no longer than this (PIPE_BUF). */
const sharedBytes = 4_096;

/**
 * The process's log: one JSON object a line on standard output. Lines are written without blocking; an error is
 * written as {@link describeError} tells it, so that no secret can travel in one.
 *
 * @param fd where to write instead of standard output
 * @param worker which one of several processes with one output this is; it stands in every line then
 */
export function openLog(level: string, fd = 1, worker?: number): Log {
  const alone = worker === undefined;
  const maxWrite = alone ? writeBytes : sharedBytes;
  const output = pino.destination({ fd, sync: false, maxLength: keptBytes, maxWrite });
  // The reader of the log is gone (a closed pipe): the gateway goes on without its log rather than end.
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
    logger.warn({ writes: dropped }, 'lines of this log were dropped: nobody read them');
    dropped = 0;
  });
  let closing = false;
  return {
    logger,
    close: (done) => {
      if (closing) return;
      closing = true;
      lines.close();
      setTimeout(done, closeMs);
      output.once('close', done);
      // Not `flushSync`: it would lose lines that are being written at this moment.
      output.end();
    },
  };
}

/**
 * For lines that are many and made by hand, whole and with their line break. They are in order with the others, but may
 * be written {@link batchMs} later. With a logger that does not come from {@link openLog} they are written one by one.
 */
export function lineWriter(logger: Logger): (line: string) => void {
  // pino shows its stream under this symbol, for uses such as this one.
  const stream = (logger as unknown as Record<symbol, Lines | pino.DestinationStream>)[
    pino.symbols.streamSym
  ];
  return stream instanceof Lines ? (line) => stream.writeSoon(line) : (line) => stream?.write(line);
}

/** A write costs several times what it takes to make a line, so lines that can wait a moment share one. */
class Lines {
  readonly #output: pino.DestinationStream;
  readonly #most: number;
  #batch = '';
  #timer: NodeJS.Timeout | undefined;
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
    else this.#timer ??= setTimeout(() => this.#flush(), batchMs);
  }

  close(): void {
    this.#flush();
    this.#closed = true;
  }

  /** One write is never longer than a batch, but for a line that is. */
  #makeRoom(line: string): void {
    if (this.#batch.length + line.length > this.#most) this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#batch !== '' && !this.#closed) this.#output.write(this.#batch);
    this.#batch = '';
  }
}
