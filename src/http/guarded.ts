import type { Socket } from 'node:net';

/** Ends alone if a callback that serves it throws: an exchange, or a connection. */
export interface Breakable {
  /** Ends it, because of an exception in the gateway's own code. It must not throw, however often it is called. */
  broke(error: unknown): void;
}

/** Tells those who hear of a connection's end that an exception in the gateway's own code was the `cause`. */
export class Fault extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'Fault';
  }
}

/** Makes a callback whose exception ends `served`, and neither the process nor anything else that it serves. */
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
 * Guards methods that others call, as {@link guarded} does with callbacks: those others may serve further exchanges.
 *
 * @param instead what a caller gets after an exception
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

/** Names the function that logs exceptions in what serves a connection to a client. */
export function reportFaults(socket: Socket, report: (error: unknown) => void): void {
  reports.set(socket, report);
}

/** Ends a connection because of an exception in what served it; its listeners for `error` get a {@link Fault}. */
export function breakConnection(socket: Socket, error: unknown): void {
  reports.get(socket)?.(error);
  socket.destroy(new Fault(error));
}

/** Makes a listener for new connections whose exception ends the connection, and nothing else. */
export function guardedConnection(listener: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => guardedOn(socket, listener)(socket);
}

/** Makes a function whose exception ends a connection, and nothing else. @param instead what a caller gets then */
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

/** Makes a callback whose exception ends a connection, and nothing else. */
export function guardedOn<Args extends unknown[]>(
  socket: Socket,
  callback: (...args: Args) => void,
): (...args: Args) => void {
  return guarded({ broke: (error) => breakConnection(socket, error) }, callback);
}
