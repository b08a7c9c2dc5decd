// @ts-check
/**
 * Looking at and signalling a process together with everything it started.
 *
 * A PostgreSQL server is one parent and a process per connection, each in a session of its own, so that signalling
 * the parent's process group would miss them.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Processes that `parent` started and that still run.
 * @param {number} parent
 * @returns {number[]}
 */
export function childrenOf(parent) {
  return parents()
    .filter(([, itsParent]) => itsParent === parent)
    .map(([pid]) => pid);
}

/**
 * Sends a signal; a process that is already gone is no fault.
 * @param {number} pid a negative number means a process group
 * @param {NodeJS.Signals | 0} signal
 * @returns {boolean} whether there was anyone to receive it
 */
export function signal(pid, signal) {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * A process that has ended but that nobody has collected (common where a container has no init) counts as gone.
 * @param {number} pid
 */
export function isAlive(pid) {
  if (!signal(pid, 0)) return false;
  if (process.platform !== 'linux') return true;
  return statOf(pid)?.[0] !== 'Z';
}

/** @returns {[pid: number, parent: number][]} */
function parents() {
  return process.platform === 'linux' ? parentsFromProc() : parentsFromPs();
}

/** Slim container images have no `ps`, so Linux is asked directly. @returns {[number, number][]} */
function parentsFromProc() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(statOf(Number(name))?.[1])]);
}

/**
 * State, parent and so on of a Linux process, as /proc gives them after the pid and the name.
 * @param {number} pid
 */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name stands in brackets and may itself hold spaces and brackets.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // ended meanwhile
  }
}

/** @returns {[number, number][]} */
function parentsFromPs() {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => {
      const [pid, parent] = line.trim().split(/\s+/);
      return [Number(pid), Number(parent)];
    });
}
