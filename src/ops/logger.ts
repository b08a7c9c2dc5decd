import pino, { type Logger } from 'pino';
import { describeError } from './describe-error.ts';

export type { Logger };

/** Where log lines go. */
export interface LogOutput {
  readonly logger: Logger;
  /** Writes out what is buffered, at once: for the last lines of a process. */
  flush(): void;
}

/**
 * The process's log: one JSON object a line on standard output. Lines are written without blocking; an error is
 * written as {@link describeError} tells it, so that no secret can travel in one.
 */
export function openLog(level: string): LogOutput {
  const output = pino.destination({ fd: 1, sync: false });
  // Nobody reads any more (a closed pipe): the gateway goes on without its log rather than end.
  output.on('error', () => undefined);
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    output,
  );
  return { logger, flush: () => flushQuietly(output) };
}

function flushQuietly(output: { flushSync(): void }): void {
  try {
    output.flushSync();
  } catch {
    // Not opened yet, or closed by its reader: there is nobody to tell.
  }
}
