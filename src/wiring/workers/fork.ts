import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { Handover } from './handover.ts';
import type { WorkerProcess } from './member.ts';

/**
 * Makes the function that forks workers, by Node's cluster: it opens each port once, in this process, and hands every connection
 * to one of the workers in turn. Sharing the socket instead costs a connection a fifth less, but gave 63 of 64 connections that
 * came at once to one of two workers, where they then stay.
 */
export function forker(): () => WorkerProcess {
  // Whatever NODE_CLUSTER_SCHED_POLICY says.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: fileURLToPath(new URL('../../worker.js', import.meta.url)), args: [] });
  const handover = new Handover();
  return () => {
    const worker = cluster.fork();
    const child = worker.process;
    handover.watch(child);
    // A message to a worker that is just ending. Its exit is told of by the event of that name.
    worker.on('error', () => undefined);
    return {
      pid: child.pid ?? 0,
      send: (message) => {
        if (child.connected) child.send(message, () => undefined);
      },
      kill: (signal) => void child.kill(signal),
      onMessage: (listener) => void worker.on('message', listener),
      onExit: (listener) => void worker.once('exit', listener),
    };
  };
}
