import type { Socket } from 'node:net';

/** An exchange or a connection that can be ended alone, if a callback that serves it throws. */
export interface Breakable {
  /**
   * Ends the exchange or connection, because the gateway's own code threw. It may be called repeatedly, and must not
   * throw.
   */
  broke(error: unknown): void;
}

/** Error for listeners on a connection: the connection ends because the gateway's own code threw `cause`. */
export class Fault extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'Fault';
  }
}

/**
 * Wraps a callback. Its exception ends only `served`, not the process or anything else that the process serves.
 */
export function guarded<Args extends unknown[]>(
  served: Breakable,
  callback: (...args: Args) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      callback(...args);
    } catch (error) {
      served.broke(error);
    }
  };
}

/** Names of the methods that may return `Result`. */
type MethodsWith<Kind, Result> = {
  [Name in keyof Kind]: Kind[Name] extends (...args: never[]) => infer Returned
    ? Result extends Returned
      ? Name
      : never
    : never;
}[keyof Kind];

/**
 * Guards methods as {@link guarded} does callbacks, because their callers may also serve other exchanges.
 *
 * @param instead value that a caller gets after an exception
 */
export function guardMethods<Kind extends Breakable, Result>(
  { prototype }: { readonly prototype: Kind },
  instead: Result,
  ...names: MethodsWith<Kind, Result>[]
): void {
  const methods = prototype as Record<keyof Kind, unknown>;
  for (const name of names) {
    const method = methods[name] as (...args: unknown[]) => unknown;
    methods[name] = function (this: Kind, ...args: unknown[]) {
      try {
        return method.apply(this, args);
      } catch (error) {
        this.broke(error);
        return instead;
      }
    };
  }
}

const reports = new WeakMap<Socket, (error: unknown) => void>();

/** Sets the function that logs exceptions of the code that serves a client's connection. */
export function reportFaults(socket: Socket, report: (error: unknown) => void): void {
  reports.set(socket, report);
}

/** Ends a connection because the code that served it threw; its listeners for `error` get a {@link Fault}. */
export function breakConnection(socket: Socket, error: unknown): void {
  reports.get(socket)?.(error);
  socket.destroy(new Fault(error));
}

/** Wraps a listener for new connections. Its exception ends only the connection. */
export function guardedConnection(listener: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => guardedOn(socket, listener)(socket);
}

/**
 * Wraps a function with a result. Its exception ends only the connection.
 *
 * @param instead result after an exception
 */
export function guardedAnswer<Args extends unknown[], Answer>(
  socket: Socket,
  answer: (...args: Args) => Answer,
  instead: Answer,
): (...args: Args) => Answer {
  return (...args) => {
    try {
      return answer(...args);
    } catch (error) {
      breakConnection(socket, error);
      return instead;
    }
  };
}

/** Wraps a callback. Its exception ends only the connection. */
export function guardedOn<Args extends unknown[]>(
  socket: Socket,
  callback: (...args: Args) => void,
): (...args: Args) => void {
  return guarded({ broke: (error) => breakConnection(socket, error) }, callback);
}
