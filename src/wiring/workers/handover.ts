import type { ChildProcess } from 'node:child_process';

/**
 * Message by which Node's cluster hands a connection to a worker. The worker returns `seq` as `ack`, and says whether
 * it took the connection.
 */
interface NewConnection {
  readonly act?: string;
  readonly seq: number | string;
}

/** The handle of a connection that the cluster hands over. */
interface Handle {
  close(): void;
}

interface UnderWay {
  readonly message: NewConnection;
  readonly handle: Handle;
  /**
   * Number of times that {@link Handover} has sent this connection to a worker; 0 if only Node's cluster has sent it.
   */
  readonly tries: number;
}

/**
 * Hands a connection to another worker if a worker dies before it has taken the connection.
 *
 * Node's cluster sends a worker one connection at a time, and keeps its own copy of the handle until the worker has
 * taken the connection. If the worker dies earlier, the cluster forgets its copy without closing it. The client would
 * then wait for a response that never comes.
 */
export class Handover {
  readonly #workers = new Map<ChildProcess, Map<NewConnection['seq'], UnderWay>>();
  #nextId = 1;

  /** Watches all messages sent to `worker` from now on. */
  watch(worker: ChildProcess): void {
    const underWay = new Map<NewConnection['seq'], UnderWay>();
    this.#workers.set(worker, underWay);
    const send = worker.send.bind(worker) as (...args: unknown[]) => boolean;
    worker.send = (...args: unknown[]) => {
      const [message, handle] = args as [NewConnection, Handle | undefined];
      if (handle && message.act === 'newconn' && !underWay.has(message.seq))
        underWay.set(message.seq, { message, handle, tries: 0 });
      return send(...args);
    };
    worker.on('internalMessage', ({ ack, accepted }: { ack?: NewConnection['seq']; accepted?: boolean }) => {
      const one = ack === undefined ? undefined : underWay.get(ack);
      if (ack === undefined || one === undefined) return;
      underWay.delete(ack);
      // The cluster itself deals with the acknowledgement of a connection that it sent.
      if (one.tries === 0) return;
      if (accepted) one.handle.close();
      else this.#handOn(one);
    });
    // The event `disconnect` would be too late: Node emits it only when no connection is on its way to the worker.
    worker.once('exit', () => {
      this.#workers.delete(worker);
      for (const one of underWay.values()) this.#handOn(one);
    });
  }

  /** Hands the connection to the next worker in turn. Closes it if no worker takes it after two tries per worker. */
  #handOn({ message, handle, tries }: UnderWay): void {
    const [worker, underWay] = [...this.#workers][tries % Math.max(1, this.#workers.size)] ?? [];
    if (worker === undefined || underWay === undefined || tries >= 2 * this.#workers.size)
      return handle.close();
    // The cluster did not issue this `seq`, so it ignores the worker's acknowledgement.
    const handedOn = { ...message, seq: `handed on ${this.#nextId++}` };
    underWay.set(handedOn.seq, { message, handle, tries: tries + 1 });
    worker.send(handedOn, handle as never);
  }
}
