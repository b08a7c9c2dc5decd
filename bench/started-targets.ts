import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Target, Running, TargetEnvironment } from './targets/target.ts';
import type { Environment } from './environment.ts';
import type { NodeRuntime } from './lib/node-runtime.ts';
import { usageOf } from './lib/proc.ts';
import { inventTenants } from './lib/tenants.ts';
import { probe } from './probe.ts';
import type { Memory, TargetRecord } from './report/record.ts';
import type { StartedTarget } from './scenarios/scenario.ts';

/** The targets of one start: starts them, lets each show that it enforces what it claims, and stops them. */
export class StartedTargets {
  readonly records: TargetRecord[] = [];
  readonly #started: (StartedTarget & { readonly startMb: number })[] = [];
  readonly #environment: Environment;
  readonly #start: number;
  readonly #node: NodeRuntime;
  readonly #tenants = inventTenants();

  /**
   * @param start number of this start, for the folders of its targets
   * @param node for the targets whose Node can be chosen
   */
  constructor(environment: Environment, start: number, node: NodeRuntime) {
    this.#environment = environment;
    this.#node = node;
    this.#start = start;
  }

  get targets(): readonly StartedTarget[] {
    return this.#started;
  }

  /** Starts and probes one. A target that cannot run or does not hold the rule is left out, and the reason is kept. */
  async start(target: Target): Promise<TargetRecord> {
    const record = await this.#probed(target);
    this.records.push(record);
    return record;
  }

  /** Memory of a target now and at its start. */
  memoryOf(name: string, peakMb: number): Memory | undefined {
    const started = this.#started.find((one) => one.name === name);
    if (started === undefined) return undefined;
    return { atStart: started.startMb, peak: peakMb, atEnd: rssMb(started.running) };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#started.map(({ running }) => running.stop()));
  }

  async #probed(target: Target): Promise<TargetRecord> {
    const { name, title } = target;
    const missing = target.missing();
    if (missing !== undefined)
      return { name, title, version: '', skipped: `not here; to get it: ${missing}` };
    let version = '';
    try {
      const environment = this.#environmentFor(name);
      version = target.version(environment);
      const running = await target.start(environment);
      const failures = await probe(target, running);
      if (failures.length > 0) {
        await running.stop();
        return { name, title, version, skipped: `does not hold the rule: ${failures.join('; ')}` };
      }
      const upstream = this.#environment.upstream;
      this.#started.push({ name, environment, running, upstream, startMb: rssMb(running) });
      return { name, title, version };
    } catch (error) {
      return { name, title, version, skipped: error instanceof Error ? error.message : String(error) };
    }
  }

  #environmentFor(name: string): TargetEnvironment {
    const { processes, upstream, proxyCore, otherCore } = this.#environment;
    const dir = join(this.#environment.dir, `${name}-${this.#start}`);
    mkdirSync(dir);
    return {
      processes,
      dir,
      upstreamPort: upstream.port,
      tenants: this.#tenants,
      proxyCore,
      otherCore,
      node: this.#node,
    };
  }
}

function rssMb({ proxyPids }: Running): number {
  return usageOf(proxyPids).rssBytes / 1_048_576;
}
