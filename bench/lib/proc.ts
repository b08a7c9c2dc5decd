import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What processes have used so far. */
export interface Usage {
  /** User and system time of all their threads, and of children that have ended. */
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** Clock ticks a second in /proc: fixed at 100 for every architecture Node runs on. */
const ticksPerSecond = 100;
const pageBytes = 4_096;

/** Sums up processes and everything they have started. A process that has ended counts as nothing. */
export function usageOf(pids: readonly number[]): Usage {
  let cpuMs = 0;
  let rssBytes = 0;
  for (const pid of withDescendants(pids)) {
    const stat = statOf(pid);
    if (stat === undefined) continue;
    // proc(5): utime, stime and those of ended children are fields 14 to 17, rss is 24; `stat` begins with field 3.
    const [own, children] = [inMs(stat[11]) + inMs(stat[12]), inMs(stat[13]) + inMs(stat[14])];
    // Ticks are coarse (10 ms), the scheduler's figures are not but lack threads that have ended: the higher one is nearer.
    cpuMs += Math.max(own, scheduledMs(pid)) + children;
    rssBytes += Number(stat[21]) * pageBytes;
  }
  return { cpuMs, rssBytes };
}

/** Milliseconds a core has not been idle since it was started, whichever process used it; stolen time counts as used. */
export function busyMs(core: number): number {
  const line = readFileSync('/proc/stat', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`cpu${core} `));
  const [user, nice, system, , , irq, softirq, steal] = (line ?? '').trim().split(/\s+/).slice(1).map(Number);
  const ticks = [user, nice, system, irq, softirq, steal].reduce((sum: number, part) => sum + (part ?? 0), 0);
  return (ticks * 1_000) / ticksPerSecond;
}

/** Connections to a port of 127.0.0.1 that processes and everything they have started hold open at this moment. */
export function openConnections(pids: readonly number[], port: number): number {
  const server = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const established = '01';
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  // proc(5): remote address, state and inode are fields 3, 4 and 10.
  const inodes = new Set(
    rows.filter((row) => row[2] === server && row[3] === established).map((row) => row[9]),
  );
  return [...withDescendants(pids)].flatMap(socketsOf).filter((inode) => inodes.has(inode)).length;
}

/** Inodes of the sockets a process has open. */
function socketsOf(pid: number): string[] {
  const links = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return []; // closed meanwhile
    }
  });
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}

function inMs(ticks: string | undefined): number {
  return (Number(ticks) * 1_000) / ticksPerSecond;
}

/** Time the threads of a process have run, to the nanosecond; zero where the kernel does not tell. */
function scheduledMs(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const ns = threads.map((id) =>
      Number.parseInt(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8')),
    );
    return ns.reduce((sum, each) => sum + each, 0) / 1e6;
  } catch {
    return 0;
  }
}

function withDescendants(pids: readonly number[]): Set<number> {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: Number(statOf(Number(name))?.[1]) }));
  const found = new Set(pids);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of parents) if (found.has(parent)) found.add(pid);
  }
  return found;
}

/** /proc/<pid>/stat from field 3 on; the name before it stands in brackets and may hold spaces and brackets. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
