import type { ChildProcess } from 'node:child_process';

/** What Node's cluster sends with a connection: `seq` comes back as `ack`, with whether the worker took it. */
interface NewConnection {
  readonly act?: string;
  readonly seq: number | string;
}

/** A connection as the cluster hands it on. */
interface Handle {
  close(): void;
}

interface UnderWay {
  readonly message: NewConnection;
  readonly handle: Handle;
  /** To how many workers it was handed on from here; 0 while it is the cluster's. */
  readonly tries: number;
}

/**
 * Hands connections that are on their way to a worker to another one when that worker dies.
 *
 * Node's cluster gives a worker one connection at a time and keeps its own copy until the worker has taken it. Where the worker
 * dies before that, the copy is forgotten without being closed: the client waits for an answer until it gives up.
 */
export class Handover {
  readonly #workers = new Map<ChildProcess, Map<NewConnection['seq'], UnderWay>>();
  #nextId = 1;

  /** Watches what is sent to `worker` from now on. */
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
      // The cluster sees to its own.
      if (one.tries === 0) return;
      if (accepted) one.handle.close();
      else this.#handOn(one);
    });
    // Node says `disconnect` only once nothing is under way to it any more.
    worker.once('exit', () => {
      this.#workers.delete(worker);
      for (const one of underWay.values()) this.#handOn(one);
    });
  }

  /** To the next worker in turn; where each has been tried and none takes it, it is closed. */
  #handOn({ message, handle, tries }: UnderWay): void {
    const [worker, underWay] = [...this.#workers][tries % Math.max(1, this.#workers.size)] ?? [];
    if (worker === undefined || underWay === undefined || tries >= 2 * this.#workers.size)
      return handle.close();
    // A number that the cluster did not give: it passes over the acknowledgement.
    const handedOn = { ...message, seq: `handed on ${this.#nextId++}` };
    underWay.set(handedOn.seq, { message, handle, tries: tries + 1 });
    worker.send(handedOn, handle as never);
  }
}
