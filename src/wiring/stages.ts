/**
 * The stages of the process in the order in which they are closed, both when the gateway is stopped and when one of
 * them cannot be opened.
 */
export const shutdownOrder = [
  // `/readyz` says `draining`. Requests are still taken for `drain_delay_ms`: balancers need time to notice.
  'readiness',
  // No new connections. Requests come to their end, WebSockets are told to go; what is left at the end is cut.
  'public listener',
  // Connections to upstreams.
  'applications',
  // Usage of the last requests is stored, then the lease is given back.
  'engine',
  // Usage and lease did not wait for the collector of traces.
  'tracing',
  // Until here the platform can see that this process is unready, and why.
  'internal listener',
  'echo',
  'store',
] as const;

export type Stage = (typeof shutdownOrder)[number];

/** What is told of a stage: each step once at most, before it is taken. */
export type StageStep = 'opening' | 'closing';

/**
 * The parts of a process. Each is opened under its name when what it needs is there, and all of them are closed in
 * one written order.
 */
export class Stages<Name extends string> {
  readonly #closingOrder: readonly Name[];
  readonly #tell: (step: StageStep, name: Name) => void;
  readonly #open = new Map<Name, () => unknown>();
  #closing: Promise<void> | undefined;

  /** @param tell is called before a stage is opened and before it is closed; where it throws, that step fails */
  constructor(closingOrder: readonly Name[], tell: (step: StageStep, name: Name) => void = () => undefined) {
    this.#closingOrder = closingOrder;
    this.#tell = tell;
  }

  /** Opens a stage. What `open` throws is thrown on; the stage counts as not opened then, and `close` is not called. */
  async open<T>(name: Name, open: () => T | Promise<T>, close: (opened: T) => unknown): Promise<T> {
    this.#tell('opening', name);
    const opened = await open();
    this.#open.set(name, () => close(opened));
    return opened;
  }

  /**
   * Closes the stages that are open, one after the other. One that fails does not keep those after it from being closed.
   * Nothing is opened after it was called; calling it again gives the same promise.
   *
   * @throws the first failure, once all have been closed
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#closeAll());
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const name of this.#closingOrder) {
      const close = this.#open.get(name);
      if (close === undefined) continue;
      this.#open.delete(name);
      try {
        this.#tell('closing', name);
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
