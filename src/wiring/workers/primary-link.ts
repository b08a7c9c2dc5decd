import type { Server } from 'node:net';
import { Registry } from 'prom-client';
import type { Config } from '../../config.ts';
import type { Unreadiness } from '../../ops/health.ts';
import { valuesOf } from '../../ops/summed-metrics.ts';
import { Intake } from '../../server/intake.ts';
import type { WorkerGroup } from '../worker-group.ts';
import type { RunningGateway } from '../start.ts';
import { systemTimers } from '../../ports/timers.ts';
import { beatMs, type FromWorker, type ToWorker } from './messages.ts';

/** Milliseconds between a worker's checks of whether it is still ready. */
const lookMs = 250;

type Begin = Extract<ToWorker, { kind: 'begin' }>;

/** The worker's end of the channel that Node opens between a worker and the primary. */
export class PrimaryLink implements WorkerGroup {
  readonly #stop: () => void;
  readonly #intake = new Intake(false);
  readonly #began: Promise<Begin>;
  #begin: (message: Begin) => void = () => undefined;
  #own: () => readonly Unreadiness[] = () => [];
  #ofAll: readonly Unreadiness[] = [notYet];
  #registry = new Registry();
  readonly #decisions = new Map<number, (use: boolean) => void>();
  #nextScrape = 1;
  readonly #scrapes = new Map<number, (text: string) => void>();
  readonly #serving: Promise<RunningGateway>;
  #serve: (gateway: RunningGateway) => void = () => undefined;

  /** @param handlers `stop` is called when the primary asks this worker to drain */
  constructor({ stop }: { readonly stop: () => void }) {
    this.#stop = stop;
    this.#began = new Promise((resolve) => (this.#begin = resolve));
    this.#serving = new Promise((resolve) => (this.#serve = resolve));
    process.on('message', (message: ToWorker) => void this.#hear(message));
    tell({ kind: 'hello' });
  }

  /** Resolves to the primary's first message, which contains the configuration to use. */
  begin(): Promise<Begin> {
    return this.#began;
  }

  /**
   * Connects a gateway that is already listening. From now on this worker tells the primary whether the gateway can
   * decide, and the primary may replace the gateway's configuration.
   */
  serving(gateway: RunningGateway): void {
    this.#serve(gateway);
    let told = '';
    let toldMs = -Infinity;
    const look = (): void => {
      const unready = this.#own();
      const [text, nowMs] = [JSON.stringify(unready), performance.now()];
      if (text === told && nowMs - toldMs < beatMs) return;
      [told, toldMs] = [text, nowMs];
      tell({ kind: 'state', unready });
    };
    look();
    systemTimers.every(lookMs, look);
  }

  unready(own: () => readonly Unreadiness[]): () => readonly Unreadiness[] {
    this.#own = own;
    return () => this.#ofAll;
  }

  metrics(own: Registry): Pick<Registry, 'metrics' | 'contentType'> {
    this.#registry = own;
    return { contentType: own.contentType, metrics: () => this.#scrape() };
  }

  control(server: Server): void {
    this.#intake.control(server);
  }

  #scrape(): Promise<string> {
    const id = this.#nextScrape++;
    return new Promise((resolve) => {
      this.#scrapes.set(id, resolve);
      tell({ kind: 'scrape', id });
    });
  }

  async #hear(message: ToWorker): Promise<void> {
    switch (message.kind) {
      case 'begin':
        return this.#begin(message);
      case 'drain':
        return this.#stop();
      case 'group':
        this.#intake.taking = message.take;
        this.#ofAll = message.unready;
        return;
      case 'prepare':
        return this.#prepare(message.id, message.config);
      case 'decided':
        this.#decisions.get(message.id)?.(message.use);
        this.#decisions.delete(message.id);
        return;
      case 'count':
        return tell({ kind: 'counted', id: message.id, metrics: await valuesOf(this.#registry) });
      case 'metrics':
        this.#scrapes.get(message.id)?.(message.text);
        this.#scrapes.delete(message.id);
    }
  }

  /**
   * Switches to `config` if all workers can use it. If the switch fails after all workers agreed, this worker ends.
   * The worker that takes its place uses `config`, or logs why it cannot.
   */
  async #prepare(id: number, config: Config): Promise<void> {
    // The promise is created first, because the decision may arrive before a slow worker has prepared the
    // configuration.
    const decision = new Promise<boolean>((resolve) => this.#decisions.set(id, resolve));
    const gateway = await this.#serving;
    let use: boolean | undefined;
    const agreed = async (): Promise<void> => {
      tell({ kind: 'prepared', id, failure: null });
      use = await decision;
      if (!use) throw new Error('another worker cannot use it');
    };
    try {
      await gateway.reload(config, agreed);
    } catch (error) {
      if (use === true) throw error;
      const failure = error instanceof Error ? error.message : String(error);
      if (use === undefined) tell({ kind: 'prepared', id, failure });
      return;
    }
    tell({ kind: 'used', id });
  }
}

const notYet: Unreadiness = { reason: 'starting', detail: 'The workers have not reported yet.' };

/** Sends a message to the primary. A failure is ignored: if the primary is gone, Node ends this worker. */
function tell(message: FromWorker): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
