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

/**
 * The process's log: one JSON object a line on standard output. Lines are written without blocking; an error is
 * written as {@link describeError} tells it, so that no secret can travel in one.
 */
export function openLog(level: string): Log {
  const output = pino.destination({ fd: 1, sync: false });
  // Nobody reads any more (a closed pipe): the gateway goes on without its log rather than end.
  output.on('error', () => undefined);
  let closing = false;
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    {
      write: (line) => {
        if (!closing) output.write(line);
      },
    },
  );
  return {
    logger,
    close: (done) => {
      if (closing) return;
      closing = true;
      setTimeout(done, closeMs);
      output.once('close', done);
      // Not `flushSync`: it would lose lines that are being written at this moment.
      output.end();
    },
  };
}
