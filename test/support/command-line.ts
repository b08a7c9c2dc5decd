/** Commands of `tenancy-gateway` as function calls: no process is started. */
import { execFileSync } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { run } from '../../src/cli/run.ts';

/** What a command leaves behind. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line to its end. */
export function commandLine(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Ended> {
  return commandLineFrom('', env, ...args);
}

/** Runs a command line to its end, with `input` on its standard input. */
export async function commandLineFrom(
  input: string,
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Ended> {
  const [stdin, stdout, stderr] = [Readable.from([Buffer.from(input)]), new Kept(), new Kept()];
  const code = await run(args, { env: { ...env }, stdin, stdout, stderr });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** Runs a command line to its end, at a terminal where a person types `typed`. */
export async function commandLineAtTerminal(
  typed: string,
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Ended> {
  const [stdout, stderr] = [new Terminal(), new Terminal()];
  const stdin = Object.assign(Readable.from([Buffer.from(typed)]), { isTTY: true });
  const code = await run(args, { env: { ...env }, stdin, stdout, stderr });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** The words of a command as it is typed: `'two words'` are one. */
export function words(line: string): string[] {
  return (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'([^]*)'$/, '$1'));
}

/** The words that a shell makes of a line such as `tenancy-gateway accounts show "$ID"`, without the first. */
export function wordsOf(line: string, env: Readonly<Record<string, string>>): string[] {
  const script = `tenancy-gateway() { printf '%s\\0' "$@"; }\n${line}`;
  return execFileSync('bash', ['-euc', script], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
}

/** A stream that keeps what is written to it. */
export class Kept extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

class Terminal extends Kept {
  readonly isTTY = true;
  readonly columns = 120;

  /** Bits; Node.js asks before it writes colours. */
  getColorDepth(): number {
    return 8;
  }
}
