import type { NodeRuntime } from '../lib/node-runtime.ts';
import type { Target } from './target.ts';

/** A target beside itself, on another Node than the run's first. */
export function onNode(target: Target, node: NodeRuntime, number: number): Target {
  return {
    ...target,
    name: `${target.name}-node-${number}`,
    title: `${target.title}; ${node.version}`,
    version: (environment) => target.version({ ...environment, node }),
    start: (environment) => target.start({ ...environment, node }),
  };
}
