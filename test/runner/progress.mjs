// @ts-check
import { FILES_A_JOB, secondsOf } from './schedule.mjs';

const PLAIN_EVERY_MS = 30_000;

/** How far a run is, and how long it will take by what its files took when they were recorded. */
export class Progress {
  #began = Date.now();
  #total;
  #done = 0;
  /** Recorded seconds, one file after another. */
  #left;
  #doneSeconds = 0;
  /** Files at once. */
  #atOnce;
  #said = Date.now();

  /**
   * @param {import('./classes.mjs').TestFile[]} files
   * @param {number} jobs
   */
  constructor(files, jobs) {
    this.#total = files.length;
    this.#left = files.reduce((sum, { file }) => sum + secondsOf(file), 0);
    this.#atOnce = Math.min(files.length, jobs * FILES_A_JOB);
    if (files.length > 1)
      console.log(`${files.length} test files, about ${inWords(this.#left / this.#atOnce)}`);
  }

  /**
   * @param {import('./run-file.mjs').FileResult} result
   * @param {string} description
   */
  add({ file, failures }, description) {
    this.#done += 1;
    this.#left -= secondsOf(file);
    this.#doneSeconds += secondsOf(file);
    const line = `${this.#done} of ${this.#total}, about ${inWords(this.#secondsLeft())} left`;
    if (process.stdout.isTTY && this.#total > 1) {
      process.stdout.write(`\r\x1b[K${failures.length > 0 ? `${description}\n` : ''}${line}`);
    } else {
      console.log(description);
      if (Date.now() - this.#said < PLAIN_EVERY_MS || this.#done === this.#total) return;
      this.#said = Date.now();
      console.log(line);
    }
  }

  end() {
    if (process.stdout.isTTY && this.#total > 1) process.stdout.write('\r\x1b[K');
  }

  /** By the pace so far, once there is one. */
  #secondsLeft() {
    const elapsed = (Date.now() - this.#began) / 1000;
    const pace = this.#doneSeconds < 60 ? 1 / this.#atOnce : elapsed / this.#doneSeconds;
    return Math.max(0, this.#left * pace);
  }
}

/** @param {number} seconds */
function inWords(seconds) {
  return seconds < 50 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
}
