import type { Socket } from 'node:net';

/** An exchange or a connection. If one of its callbacks throws, only this exchange or connection ends. */
export interface Breakable {
  /**
   * Ends the exchange or connection because the gateway's own code threw `error`. Must not throw, and must tolerate
   * repeated calls.
   */
  broke(error: unknown): void;
}

/** Error that a connection's listeners get if the gateway's own code threw `cause` and so ended the connection. */
export class Fault extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'Fault';
  }
}

/** Wraps a callback. If the callback throws, only `served` ends; everything else carries on. */
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

/** Names of the methods of `Kind` whose return type includes `Result`. */
type MethodsWith<Kind, Result> = {
  [Name in keyof Kind]: Kind[Name] extends (...args: never[]) => infer Returned
    ? Result extends Returned
      ? Name
      : never
    : never;
}[keyof Kind];

/**
 * Wraps methods in the same way as {@link guarded} wraps callbacks. The caller of a method may be serving other
 * exchanges too, so the caller must not see the exception.
 *
 * @param instead value that the caller gets if a method throws
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

/** Sets the function that logs exceptions thrown while serving a client's connection. */
export function reportFaults(socket: Socket, report: (error: unknown) => void): void {
  reports.set(socket, report);
}

/** Ends a connection because the code serving it threw. The connection's `error` listeners get a {@link Fault}. */
export function breakConnection(socket: Socket, error: unknown): void {
  reports.get(socket)?.(error);
  // Without a listener, the event would end the process.
  if (socket.listenerCount('error') === 0) socket.on('error', ignore);
  socket.destroy(new Fault(error));
}

function ignore(): void {
  /* Code that uses the connection notices its end. */
}

/** Wraps a listener for new connections. If the listener throws, only the new connection ends. */
export function guardedConnection(listener: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => guardedOn(socket, listener)(socket);
}

/** Wraps a callback. If the callback throws, only the connection of `socket` ends. */
export function guardedOn<Args extends unknown[]>(
  socket: Socket,
  callback: (...args: Args) => void,
): (...args: Args) => void {
  return guarded({ broke: (error) => breakConnection(socket, error) }, callback);
}
