/** Stages of the process, in the order in which they are closed when the gateway stops or a stage fails to open. */
export const shutdownOrder = [
  // `/readyz` says `draining`. Requests are accepted for another `drain_delay_ms`, so that load balancers notice in
  // time.
  'readiness',
  // New connections are refused, requests finish, and WebSocket clients are asked to reconnect elsewhere. Connections
  // still open at the end of the drain are cut. The portal's listener drains at the same time.
  'public listener',
  'portal listener',
  // Connections to upstreams are closed.
  'applications',
  // The figures of this replica are shown until here.
  'figures',
  // Usage from the last requests is stored, then the lease is released.
  'engine',
  // The last traces are sent only now, because usage and the lease must not wait for the collector.
  'tracing',
  // The internal listener stays open until here, so that the platform can see why this process is unready.
  'internal listener',
  'echo',
  'store',
] as const;

export type Stage = (typeof shutdownOrder)[number];

/** A step in the life of a stage. Each step is reported just before it happens. */
export type StageStep = 'opening' | 'closing';

/**
 * The parts of a process. Each part has a name, and is opened after the parts it depends on. All parts are closed in a
 * fixed order.
 */
export class Stages<Name extends string> {
  readonly #closingOrder: readonly Name[];
  readonly #tell: (step: StageStep, name: Name) => void;
  readonly #open = new Map<Name, () => unknown>();
  #closing: Promise<void> | undefined;

  /** @param tell called before a stage is opened or closed; an exception makes that step fail */
  constructor(closingOrder: readonly Name[], tell: (step: StageStep, name: Name) => void = () => undefined) {
    this.#closingOrder = closingOrder;
    this.#tell = tell;
  }

  /** Opens a stage. If `open` throws, so does this method, and `close` is never called. */
  async open<T>(name: Name, open: () => T | Promise<T>, close: (opened: T) => unknown): Promise<T> {
    this.#tell('opening', name);
    const opened = await open();
    this.#open.set(name, () => close(opened));
    return opened;
  }

  /**
   * Closes the open stages in order, even if some of them fail. No stage may be opened afterwards. Further calls return
   * the same promise.
   *
   * @throws the first failure, after all stages have been closed
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
