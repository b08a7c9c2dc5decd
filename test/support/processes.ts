import { readFileSync } from 'node:fs';

/** Ids of the processes that a process started, the oldest first. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((id) => id.trim() !== '')
    .map(Number);
}
