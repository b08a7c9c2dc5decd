import type { ChildProcess } from 'node:child_process';

/**
 * Message of Node's cluster that brings a connection. The worker returns `seq` as `ack`, and says whether it took the
 * connection.
 */
interface NewConnection {
  readonly act?: string;
  readonly seq: number | string;
}

/** A connection as the cluster hands it over. */
interface Handle {
  close(): void;
}

interface UnderWay {
  readonly message: NewConnection;
  readonly handle: Handle;
  /** Number of workers that this class handed the connection to; 0 while only the cluster did. */
  readonly tries: number;
}

/**
 * Hands a connection that is on its way to a worker to another one if the worker dies.
 *
 * Node's cluster gives a worker one connection at a time and keeps its own copy until the worker has taken it. If the
 * worker dies before that, the cluster forgets the copy without closing it, and the client would wait for a response
 * until it gives up.
 */
export class Handover {
  readonly #workers = new Map<ChildProcess, Map<NewConnection['seq'], UnderWay>>();
  #nextId = 1;

  /** Watches all further messages to `worker`. */
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
      // The cluster closes its own copies.
      if (one.tries === 0) return;
      if (accepted) one.handle.close();
      else this.#handOn(one);
    });
    // Node emits `disconnect` only when no connection is on its way to the worker.
    worker.once('exit', () => {
      this.#workers.delete(worker);
      for (const one of underWay.values()) this.#handOn(one);
    });
  }

  /** Hands the connection to the next worker in turn. Closes it if each worker was tried and none took it. */
  #handOn({ message, handle, tries }: UnderWay): void {
    const [worker, underWay] = [...this.#workers][tries % Math.max(1, this.#workers.size)] ?? [];
    if (worker === undefined || underWay === undefined || tries >= 2 * this.#workers.size)
      return handle.close();
    // The cluster ignores the acknowledgement of a number that it did not give.
    const handedOn = { ...message, seq: `handed on ${this.#nextId++}` };
    underWay.set(handedOn.seq, { message, handle, tries: tries + 1 });
    worker.send(handedOn, handle as never);
  }
}
