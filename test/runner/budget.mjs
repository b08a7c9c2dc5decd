// @ts-check
/**
 * Budgets of lanes, in processor time. How much a second of a processor does depends on the machine and on what else it
 * does at the time, so the unit is a fixed piece of work, timed before and after the lane.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { say } from '../../scripts/lib/say.mjs';
import { record, takenBy } from './recorded.mjs';

/** By how much a lane may exceed its recorded figure. */
const MARGIN = 1.3;

export class Budget {
  #lane;
  #before = processorSecondsOfChildren();
  #pieces = [pieceOfWork()];

  /** @param {string | undefined} lane its name, where all of it runs */
  constructor(lane) {
    this.#lane = lane && `lane ${lane}`;
  }

  /**
   * Says what the lane took.
   * @param {boolean} keep whether that is its budget from now on
   * @returns {boolean} whether it was within its budget
   */
  compare(keep) {
    if (this.#lane === undefined || Number.isNaN(this.#before)) return true;
    const seconds = processorSecondsOfChildren() - this.#before;
    this.#pieces.push(pieceOfWork());
    const units = seconds / (this.#pieces.reduce((sum, piece) => sum + piece) / this.#pieces.length);
    const budget = takenBy(this.#lane)?.processorSeconds;
    const within = keep || budget === undefined || units <= budget * MARGIN;
    const allowed =
      budget === undefined ? '' : `; its budget is ${budget.toFixed(0)}, and 30 % more is too much`;
    say(
      `${this.#lane}: ${seconds.toFixed(0)} s of processor time, ${units.toFixed(0)} pieces of work${allowed}`,
    );
    if (!within)
      say('That is over the budget. If it has to be, `npm test -- --lane ... --record` writes a new one.');
    if (keep) record([[this.#lane, { seconds, processorSeconds: units }]]);
    return within;
  }
}

/** Processor seconds of a fixed piece of work: hashing, parsing and sorting, about half a second. */
function pieceOfWork() {
  const before = process.cpuUsage();
  let text = 'x';
  for (let round = 0; round < 100_000; round++) {
    text = createHash('sha256').update(text).digest('hex');
    if (round % 200 === 0) {
      const list = JSON.parse(
        JSON.stringify(Array.from({ length: 500 }, (_, i) => ({ at: (i * 7919) % 503, text }))),
      );
      list.sort((/** @type {{ at: number }} */ a, /** @type {{ at: number }} */ b) => a.at - b.at);
    }
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Of all processes that this one has seen end, and that those have; NaN where there is no /proc. */
function processorSecondsOfChildren() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return Number.NaN;
  }
}
