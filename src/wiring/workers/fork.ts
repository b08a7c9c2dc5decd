import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { missingV8Flags } from '../v8-flags.ts';
import { Handover } from './handover.ts';
import type { WorkerProcess } from './member.ts';

/**
 * Makes the function that forks workers with Node's cluster. This process opens each port once and hands connections to
 * the workers in turn. The workers could share a socket instead. In a measurement with two workers, a connection then
 * cost a fifth less, but 63 of 64 simultaneous connections went to the same worker and stayed there.
 */
export function forker(): () => WorkerProcess {
  // The policy is set here, so that the variable NODE_CLUSTER_SCHED_POLICY has no effect.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('../../worker.js', import.meta.url)),
    args: [],
    execArgv: [...missingV8Flags(), ...process.execArgv, '--enable-source-maps'],
  });
  const handover = new Handover();
  return () => {
    const worker = cluster.fork();
    const child = worker.process;
    handover.watch(child);
    // Sending a message to a worker that is about to end fails. The error is ignored, because `exit` reports the end.
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
