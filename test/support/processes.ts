import { readFileSync, writeFileSync } from 'node:fs';

/** Ids of the processes that a process started, the oldest first. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((id) => id.trim() !== '')
    .map(Number);
}

/** What a process has of the machine's memory, in MiB: now, and at most since it began or {@link resetPeakMemory}. */
export function memoryOf(pid: number): { readonly nowMib: number; readonly peakMib: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024);
  return { nowMib: mib('VmRSS'), peakMib: mib('VmHWM') };
}

/** Forgets how much memory a process had at most. */
export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
