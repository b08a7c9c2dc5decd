import type { NodeRuntime } from '../lib/node-runtime.ts';
import type { Processes } from '../lib/processes.ts';
import type { Tenants } from '../lib/tenants.ts';

/** Something that stands in front of the upstream and is measured. */
export interface Target {
  /** For options and files, such as `nginx-lua`. */
  readonly name: string;
  /** For people: what it is and how it finds its facts. */
  readonly title: string;
  /**
   * How much of the gateway's work it does, and so what the probe checks: `acting` the whole rule of the acting
   * header, `key` only who calls, `none` nothing.
   */
  readonly enforces: 'acting' | 'key' | 'none';
  /** How to get what it needs, or `undefined` when it can run here. */
  missing(): string | undefined;
  /** What exactly was measured; a program that needs building is built by now. */
  version(environment: Pick<TargetEnvironment, 'node'>): string;
  /** Starts it; resolves when it serves. */
  start(environment: TargetEnvironment): Promise<Running>;
}

/** What a target gets to start with. */
export interface TargetEnvironment {
  readonly processes: Processes;
  /** Existing folder of this target alone. */
  readonly dir: string;
  readonly upstreamPort: number;
  readonly tenants: Tenants;
  /** Where the proxy runs, alone. */
  readonly proxyCore: number;
  /** Where the upstream, the client and a target's stores run. */
  readonly otherCore: number;
  /** What the gateway and bare node:http run on. */
  readonly node: NodeRuntime;
}

/** A target that serves. Its processes end with the run. */
export interface Running {
  readonly port: number;
  /** Its own tenants, where it has a store; the environment's otherwise. */
  readonly tenants: Tenants;
  /** Processes whose CPU time is the proxy's. None for the upstream by itself. */
  readonly proxyPids: readonly number[];
  /** Stores it needs, accounted for separately. */
  readonly storePids: readonly number[];
  stop(): Promise<void>;
}
