// @ts-check
/** One server process: started with its output going to a log file, watched until it is ready, ended without remains. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, isAlive, signal } from '../../scripts/lib/processes.mjs';

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 10_000;

/**
 * @typedef {object} Launch
 * @property {string} command
 * @property {string[]} args
 * @property {string} cwd
 * @property {string} log file that collects what the server prints
 * @property {import('./account.mjs').Account | undefined} [account]
 * @property {() => boolean | Promise<boolean>} isReady
 */

/** A running server process and the processes it has started. */
export class ServerProcess {
  #process;
  #log;
  #exited;

  /** @param {Launch} launch */
  constructor(launch) {
    const out = openSync(launch.log, 'a');
    this.#log = launch.log;
    this.#process = spawn(launch.command, launch.args, {
      cwd: launch.cwd,
      stdio: ['ignore', out, out],
      ...launch.account,
    });
    closeSync(out);
    this.#exited = new Promise((resolve) => {
      this.#process.once('exit', resolve);
      this.#process.once('error', resolve);
    });
  }

  get pid() {
    return this.#process.pid ?? 0;
  }

  get isRunning() {
    return this.pid !== 0 && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /**
   * Resolves once the server answers; rejects with the end of its log if it ends or hangs before that.
   * @param {Launch['isReady']} isReady
   */
  async ready(isReady) {
    const deadline = Date.now() + START_LIMIT_MS;
    while (this.isRunning && Date.now() < deadline) {
      if (await isReady()) return;
      await sleep(10);
    }
    await this.kill();
    throw new Error(`server did not start:\n${readFileSync(this.#log, 'utf8').slice(-4000)}`);
  }

  /** Freezes the server: connections stay open, nothing is answered. */
  pause() {
    // The parent first, so that it cannot start another process after its children were listed.
    signal(this.pid, 'SIGSTOP');
    for (const pid of childrenOf(this.pid)) signal(pid, 'SIGSTOP');
  }

  /** Ends a pause. */
  resume() {
    for (const pid of childrenOf(this.pid)) signal(pid, 'SIGCONT');
    signal(this.pid, 'SIGCONT');
  }

  /** Ends the server and its processes as a power cut would. */
  async kill() {
    if (!this.isRunning) return;
    signal(this.pid, 'SIGSTOP');
    const all = [this.pid, ...childrenOf(this.pid)];
    for (const pid of all) signal(pid, 'SIGKILL');
    await this.#exited;
    while (all.some(isAlive)) await sleep(5);
  }

  /**
   * Asks the server to end, and insists after a while.
   * @param {NodeJS.Signals} how
   */
  async stop(how) {
    if (!this.isRunning) return;
    this.resume();
    signal(this.pid, how);
    const insist = setTimeout(() => void this.kill(), STOP_LIMIT_MS);
    await this.#exited;
    clearTimeout(insist);
  }
}
