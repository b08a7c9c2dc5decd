// @ts-check
/**
 * Runs test files one after another, as they come in lines on descriptor 3, and writes there what each took. Its output
 * is TAP, a test for each file.
 */
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { runInTurn } from './tap-of-file.mjs';

// What tests fork are sources, not copies.
process.execArgv.push('--import=./scripts/typescript/register.mjs', '--disable-warning=ExperimentalWarning');

const channel = new Socket({ fd: 3 });
for await (const file of createInterface({ input: channel })) {
  const before = processorMs();
  await runInTurn(file);
  channel.write(`${processorMs() - before}\n`);
}

/** Processor time of this process and of those that it has seen end, in milliseconds. */
function processorMs() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
    return fields.slice(11, 15).reduce((sum, ticks) => sum + 10 * Number(ticks), 0);
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

// A deadline that nobody waits for any more would hold up the run by as long as it is.
process.exit();
