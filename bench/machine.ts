import { cpus, loadavg, release, totalmem } from 'node:os';
import { readFileSync } from 'node:fs';

/** What a run ran on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly kernel: string;
  readonly node: string;
  /** Load average over a minute when the run began. */
  readonly load: number;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: /^PRETTY_NAME="(.*)"$/m.exec(osRelease())?.[1] ?? process.platform,
    kernel: release(),
    node: process.version,
    load: loadavg()[0] ?? 0,
  };
}

/** The machine in one line. */
export function machineLine({ cpu, cores, memoryGb, system, kernel, node, load }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Linux ${kernel}, Node ${node}, load average ${load.toFixed(2)}`;
}

/** Load above which figures are not to be trusted. */
export const quietLoad = 0.3;

function osRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}
