import type { Config } from '../../config.ts';
import type { Unreadiness } from '../../ops/health.ts';
import type { Logger } from '../../ops/logger.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Timers } from '../../ports/timers.ts';
import { Member, type WorkerProcess } from './member.ts';
import type { FromWorker } from './messages.ts';

export interface WorkersParts {
  readonly size: number;
  /** Returns the configuration for a worker that is starting. */
  readonly config: () => Config;
  readonly fork: () => WorkerProcess;
  readonly timers: Timers;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
  /** Called for all messages except `hello` and `state`. */
  readonly onMessage: (from: Member, message: FromWorker) => void;
  readonly onGone: (member: Member, code: number | null) => void;
  /** Called when a worker has ended and another one is to take its place. */
  readonly onReplaced: () => void;
  /**
   * Called if the first worker ends before it listens. The gateway then gives up, because the other workers would end
   * the same way. The worker itself has logged the reason.
   */
  readonly onNeverStarted: (code: number) => void;
}

/** Milliseconds between checks of whether workers are alive and ready. */
const lookMs = 1_000;
/**
 * Number of checks without a message after which a starting worker is considered hung and is killed. A worker may be
 * busy for a while at its start.
 */
const startingLooks = 30;
/**
 * Minimum number of checks without a message before a serving worker is killed. A busy machine may delay two or three
 * messages.
 */
const leastSilentLooks = 4;
/**
 * A worker is replaced if it has been unready in more than this many consecutive checks while another worker was ready.
 * A worker that was never ready is not replaced.
 */
const behindLooks = 10;
/**
 * A worker that fails less than this many milliseconds after its start has failed early. If the workers of a slot fail
 * early at least twice in a row, the next one starts only after a pause.
 */
const soonMs = 30_000;
const firstPauseMs = 500;
const longestPauseMs = 30_000;

/**
 * Keeps the wanted number of workers running, and decides which workers take connections. The ready workers do. If no
 * worker is ready, all of them take connections, because a 503 is better than no response.
 */
export class Workers {
  readonly #parts: WorkersParts;
  readonly #members = new Map<number, Member>();
  /** For each slot, the number of its workers that have failed early in a row, see {@link soonMs}. */
  readonly #fast = new Map<number, number>();
  #nextId = 1;
  #stopping = false;
  #started = false;
  /** New workers waiting for their configuration; `undefined` if new workers need not wait. */
  #held: Member[] | undefined;

  /**
   * Forks the first worker. The others follow once the first one listens. A fault that stops every worker is thus
   * logged only once.
   */
  constructor(parts: WorkersParts) {
    this.#parts = parts;
    this.#fork(1);
    this.#again();
  }

  /** Workers that have received their configuration. */
  get members(): Member[] {
    return [...this.#members.values()].filter(({ begun }) => begun);
  }

  get readyCount(): number {
    return this.members.filter(({ ready }) => ready).length;
  }

  /** Makes new workers wait for their configuration until {@link release}. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const member of held) this.#begin(member);
  }

  /** Ends a worker as SIGTERM would. Another worker takes its place, unless all are being stopped. */
  drain(member: Member): void {
    member.draining = true;
    member.process.send({ kind: 'drain' });
  }

  /** Drains all workers and forks no more of them. */
  stop(): void {
    this.#stopping = true;
    for (const member of this.#members.values()) this.drain(member);
    this.#tellAll();
  }

  kill(): void {
    this.#stopping = true;
    for (const { process } of this.#members.values()) process.kill('SIGKILL');
  }

  get empty(): boolean {
    return this.#members.size === 0;
  }

  #fork(slot: number): void {
    if (this.#stopping) return;
    const { fork, clock } = this.#parts;
    const member = new Member(this.#nextId++, slot, fork(), clock.monotonicMs());
    this.#members.set(member.id, member);
    member.process.onMessage((message) => this.#hear(member, message));
    member.process.onExit((code, signal) => this.#ended(member, code, signal));
  }

  #hear(member: Member, message: FromWorker): void {
    // A message may arrive after its sender's exit. Its counts would then be in the sum twice.
    if (member.gone) return;
    member.silentFor = 0;
    if (message.kind === 'hello') {
      if (this.#held === undefined) this.#begin(member);
      else this.#held.push(member);
    } else if (message.kind === 'state') this.#state(member, message.unready);
    else this.#parts.onMessage(member, message);
  }

  #begin(member: Member): void {
    if (member.gone) return;
    member.begun = true;
    member.process.send({ kind: 'begin', config: this.#parts.config(), slot: member.slot });
    if (this.#stopping) this.drain(member);
    this.#tellAll();
  }

  #state(member: Member, unready: readonly Unreadiness[]): void {
    member.unready = unready;
    member.wasReady ||= member.ready;
    if (!this.#started) {
      this.#started = true;
      for (let slot = 2; slot <= this.#parts.size; slot++) this.#fork(slot);
    }
    this.#tellAll();
  }

  /**
   * Tells each worker whether to take connections. Workers that should take connections are told first, so that at
   * least one worker takes them at any time.
   */
  #tellAll(): void {
    const { members } = this;
    const ready = members.filter((member) => member.ready);
    const unready = this.#stopping ? [stopping] : ready.length > 0 ? [] : reasonsOf(members);
    const takes = (member: Member): boolean => this.#stopping || ready.length === 0 || member.ready;
    for (const member of members.sort((a, b) => Number(takes(b)) - Number(takes(a)))) {
      const message = { kind: 'group', take: takes(member), unready } as const;
      const text = JSON.stringify(message);
      if (member.told === text) continue;
      member.told = text;
      member.process.send(message);
    }
  }

  #ended(member: Member, code: number | null, signal: NodeJS.Signals | null): void {
    const { logger, timers, clock, onGone, onReplaced, onNeverStarted } = this.#parts;
    member.gone = true;
    this.#members.delete(member.id);
    onGone(member, code);
    this.#tellAll();
    if (this.#stopping) return;
    if (!this.#started) return onNeverStarted(code ?? 1);
    const soon = clock.monotonicMs() - member.bornMs < soonMs && code !== 0;
    const fast = soon ? (this.#fast.get(member.slot) ?? 0) + 1 : 0;
    this.#fast.set(member.slot, fast);
    const pauseMs = fast < 2 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (fast - 2));
    const about = { worker: member.slot, pid: member.process.pid, code, signal, pause_ms: pauseMs };
    if (code === 0) logger.info(about, 'a worker has ended: another one takes its place');
    else logger.error(about, 'a worker died: another one takes its place');
    onReplaced();
    timers.after(pauseMs, () => this.#fork(member.slot));
  }

  #again(): void {
    this.#parts.timers.after(lookMs, () => {
      for (const member of this.#members.values()) this.#look(member);
      if (!this.empty || !this.#stopping) this.#again();
    });
  }

  #look(member: Member): void {
    const about = { worker: member.slot, pid: member.process.pid };
    member.silentFor += 1;
    // The limit is a number of checks, not a time. If the whole machine stalls, the workers send nothing, but the
    // primary makes no checks either, so no worker is killed.
    if (member.silentFor > this.#silentLooks(member)) {
      this.#parts.logger.error(about, 'a worker hangs: it is killed');
      return member.process.kill('SIGKILL');
    }
    const behind = member.wasReady && !member.ready && !member.draining && this.readyCount > 0;
    member.behindFor = behind ? member.behindFor + 1 : 0;
    if (member.behindFor <= behindLooks) return;
    this.#parts.logger.warn(about, 'a worker cannot decide and others can: it is replaced');
    this.drain(member);
    this.#tellAll();
  }

  /**
   * Returns the number of checks without a message after which a worker is killed. For a serving worker, these checks
   * take at least twice the lease duration. By then the worker can no longer decide, so its clients are better off with
   * another worker.
   */
  #silentLooks({ unready }: Member): number {
    if (unready === null) return startingLooks;
    return Math.max(leastSilentLooks, Math.ceil((2 * this.#parts.config().coherence.leaseMs) / lookMs));
  }
}

const stopping: Unreadiness = { reason: 'draining', detail: 'This process is about to end.' };

const starting: Unreadiness = { reason: 'starting', detail: 'No worker is ready yet.' };

/** Returns the reasons why no worker is ready, without duplicates. */
function reasonsOf(members: readonly Member[]): readonly Unreadiness[] {
  const all = members.flatMap(({ unready }) => unready ?? []);
  return all.length === 0 ? [starting] : [...new Map(all.map((one) => [one.reason, one])).values()];
}
