import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Contender, Running, Stage } from './targets/target.ts';
import type { Ground } from './environment.ts';
import { usageOf } from './lib/proc.ts';
import { inventTenants } from './lib/tenants.ts';
import type { Entrant } from './measure.ts';
import { probe } from './probe.ts';
import type { Memory, Participant } from './report/record.ts';

/** Contenders that serve and have shown that they enforce what they claim. */
export class Field {
  readonly participants: Participant[] = [];
  readonly #entrants: (Entrant & { readonly running: Running; readonly startMb: number })[] = [];
  readonly #ground: Ground;
  readonly #tenants = inventTenants();

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  get entrants(): readonly Entrant[] {
    return this.#entrants;
  }

  /** Starts and probes one; whoever cannot run or does not hold the rule is left out, and the reason kept. */
  async enter(contender: Contender): Promise<Participant> {
    const participant = await this.#admit(contender);
    this.participants.push(participant);
    return participant;
  }

  /** Memory of a contender now and at its start. */
  memoryOf(name: string, peakMb: number): Memory | undefined {
    const entrant = this.#entrants.find((one) => one.name === name);
    if (entrant === undefined) return undefined;
    return { atStart: entrant.startMb, peak: peakMb, atEnd: rssMb(entrant.running) };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#entrants.map(({ running }) => running.stop()));
  }

  async #admit(contender: Contender): Promise<Participant> {
    const { name, title } = contender;
    const missing = contender.missing();
    if (missing !== undefined)
      return { name, title, version: '', skipped: `not here; to get it: ${missing}` };
    const version = contender.version();
    try {
      const stage = this.#stageFor(name);
      const running = await contender.start(stage);
      const faults = await probe(contender, running);
      if (faults.length > 0) {
        await running.stop();
        return { name, title, version, skipped: `does not hold the rule: ${faults.join('; ')}` };
      }
      const subject = { stage, running, upstream: this.#ground.upstream };
      this.#entrants.push({ name, subject, running, startMb: rssMb(running) });
      return { name, title, version };
    } catch (error) {
      return { name, title, version, skipped: error instanceof Error ? error.message : String(error) };
    }
  }

  #stageFor(name: string): Stage {
    const { processes, upstream, proxyCore, otherCore } = this.#ground;
    const dir = join(this.#ground.dir, name);
    mkdirSync(dir);
    return {
      processes,
      dir,
      upstreamPort: upstream.port,
      tenants: this.#tenants,
      proxyCore,
      otherCore,
      nodeFlags: [],
    };
  }
}

function rssMb({ proxyPids }: Running): number {
  return usageOf(proxyPids).rssBytes / 1_048_576;
}
