import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/files.ts';
import { machineLine } from '../machine.ts';
import type { Case } from '../scenarios/scenario.ts';
import { barChart } from './chart.ts';
import type { RunRecord } from './record.ts';
import { caseTable, disturbance, memoryTable, table } from './tables.ts';

const headline = 'small-get';

/** Writes `docs/maintainers/performance.md` and its chart from a run. */
export function writeDocs(record: RunRecord, cases: readonly Case[]): void {
  writeFileSync(join(root, 'docs/maintainers/performance.md'), page(record, cases));
  writeFileSync(join(root, 'docs/maintainers/performance.svg'), chart(record));
}

function page(record: RunRecord, cases: readonly Case[]): string {
  const measured = cases.filter(({ id }) => record.results.some((result) => result.case === id));
  const others = disturbance(record);
  const disturbed = others === undefined ? '' : `\n**Not a quiet machine:** ${others}`;
  return `# Performance

The gateway's costs beside those of alternatives, measured in one run on one machine. The command below
writes this page and the chart; run it on your own machine before you rely on any figure.

    ${record.command}

![CPU microseconds a request](performance.svg)

## How it was measured

${record.began.slice(0, 10)}, ${record.minutes} min, on ${machineLine(record.machine)}. Medians of ${record.rounds} rounds of ${record.seconds} s; the targets took
turns in every round. _Spread_ is the highest minus the lowest of the rounds, per cent of the median.${disturbed}

- The proxy has one core to itself. The upstream (nginx with fixed responses), the client, PostgreSQL and Redis share
  another one. Loopback only, HTTP/1.1, keep-alive, no target writes an access log.
- CPU time is user plus system time of the proxy's processes and all their threads, as the kernel counts it, divided by
  the number of responses. The CPU time of a store has a column of its own.
- Closed loops are wrk's: one thread, as fast as responses come. Latency is taken at a constant ${record.rate} requests a second
  and counts from when a request was due, so that a stall is charged with every request that it held up. The generator shares
  its core with the upstream; its own lag is shown.
- Before the measurements every target has to prove that it enforces the rule: unknown keys, forged headers, the three
  forms of the acting header, deactivated and foreign targets, a write without the header. Targets that enforce the whole rule
  look a key up by its SHA-256, as the gateway does. The static maps of nginx and Caddy only know who calls; bare node:http
  checks and forwards nothing.
- One parent with 1,000 sub-accounts. Reads send no acting header; writes act as a sub-account by its external id.
- Only the gateway keeps its facts right while it runs (changes reach it before they are confirmed), counts usage per
  tenant and has metrics. The others hold a copy that never changes; the one with Redis reads it anew each time.

${table(
  ['target', 'what'],
  record.targets.map(({ title, version, skipped }) => [title, skipped ?? version]),
)}

${measured.map((one) => `## ${one.title}\n\n${caseTable(one, record)}\n`).join('\n')}
${explained}
## Memory

Resident memory of the proxy over the whole run.

${memoryTable(record)}
`;
}

/**
 * Written by hand, from profiles: the figures are one profile's, and change little from run to run.
 */
const explained = `## Where the time goes

Node's profiler found these shares of small reads, as fast as responses came, on Node 24
(\`npm run bench -- --profile small-get --node node24\`):

| part | share |
|---|---:|
| the gateway: heads read strictly on both sides, the decision, headers both ways, counting | 38 % |
| writing to the two sockets, almost all of it in the kernel | 33 % |
| Node's sockets, streams, buffers and events | 12 % |
| collecting garbage | 7 % |
| SHA-256 and CRC-32 of the key | 5 % |
| waiting for sockets and reading from them | 5 % |

- **Beside nginx + Lua.** Both pay for the same four passes through the kernel. The rest is some fifteen microseconds of JavaScript,
  of which Node's own part is a quarter, and no function of the gateway takes more than 4 %. Every target costs more at a constant rate than in a closed loop, and the ratio is smaller there.
- **p50** at the same constant rate: the gateway reads the whole body of a
  write before it sends the request to the upstream, so that a slow client holds no connection.
- **p99** is above nginx's, by more the busier the core is. A machine like this one stops every process for some milliseconds now and
  then: a program that only reads the clock stood still 25 times for more than 2 ms in 15 s, for up to 15 ms. After a pause
  the proxy works off the requests that came meanwhile, with the free part of its core, which is larger with nginx. Pauses to collect
  garbage are short with the flags of the image: on Node 24 they took p99 at 4,000 requests a second from 12.8 to 1.3 ms ([why](decisions/http-server.md)).
- **Event streams.** Each event wakes an idle process, whose caches are cold. A bare \`node:http\` that only makes the events pays for that, too.
  Linux's profiler (\`perf\`, on the same kind of machine, 2026-11-28) finds 41 % of the time in the kernel, 36 % in Node's own code, 14 % in compiled JavaScript (Node's streams and the gateway), and 6 % in collecting garbage.
- **One connection.** The process falls asleep twice in each request, and wakes the upstream and the client on the other core. \`perf\` finds 49 % of the time in the kernel,
  half of it in sleeping and waking: some 59 µs, which is already half of what Go's proxy takes in all. The other 60 µs are what takes 20 µs with 64 connections, in code that has left the caches meanwhile.
- **1,000 connections.** All of them have a request under way, so what a request allocates (11 to 12 KB) outlives V8's new space: a sixth of what a collection finds alive moves to the old space (a twentieth with 64 connections),
  and collecting takes 25 to 30 % of the time. New spaces of 8 and 16 MB and \`--no-parallel-scavenge\` changed the CPU time by less than its spread in two sittings; 8 MB took the memory from 305 to 200–260 MB in this case, and added 5 to 25 MB with 64 connections.
- **Beside plain @fastify/http-proxy.** Its client to the upstream, its router and its streams are costs that the gateway does not have: the gateway speaks
  HTTP/1.1 on both sides itself and takes plain requests before the router. Redis adds a round trip to every request.
- **Large bodies** are passed on in the pieces in which they were read, without a copy.
- **Memory.** 123 MB are resident once the gateway is ready, before any request: 50 of Node's program, 44 of V8's heap, 8 of its new space, and some 20 of code, buffers and the C library. A third of the heap is the text of modules, a quarter their bytecode.
  Redis adds 7 MB for ioredis. All of the gateway's modules in one file would save 4 MB. \`node:http\` alone has 59 MB. Under load, the old space may grow to three times what is alive,
  because a large collection delays one request in a hundred; \`--optimize-for-size\` gave back 8 MB.
`;

function chart({ targets, results }: RunRecord): string {
  const bars = results
    .filter((result) => result.case === headline && (result.median['cpuUs'] ?? 0) > 0)
    .map(({ target, median }) => ({
      label: targets.find(({ name }) => name === target)?.title ?? target,
      value: median['cpuUs'] ?? 0,
      highlight: target === 'gateway',
    }));
  return barChart('CPU µs of the proxy per proxied GET, 100-byte response', bars);
}
