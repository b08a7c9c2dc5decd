/** A client's program: it is asked in lines of columns between tabs, and answers each with a line. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** How to start a client's program. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** Where it looks its packages up. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Longer than any of the programs waits by itself, and than its start takes on a machine that is busy. */
const answerLimitMs = 60_000;

/** One program, started when it is first asked, and anew after it ended or did not answer. */
export class Driver {
  readonly #launch: Launch;
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #answers: AsyncIterator<string> | undefined;
  #said = '';
  #asked = 0;

  constructor(launch: Launch) {
    this.#launch = launch;
  }

  /**
   * Asks one thing.
   *
   * @param heard gets lines that come before the answer
   * @returns the columns of the answer, without its id
   * @throws Error when it says `error`, ends, or does not answer in time
   */
  async ask(
    columns: readonly string[],
    heard: (columns: string[]) => void = () => undefined,
  ): Promise<string[]> {
    const id = String((this.#asked += 1));
    const answers = (this.#answers ??= this.#start());
    this.#child?.stdin.write(`${[id, ...columns].join('\t')}\n`);
    const limit = setTimeout(() => this.#child?.kill('SIGKILL'), answerLimitMs);
    try {
      for (;;) {
        const { value, done } = (await answers.next()) as IteratorResult<string, undefined>;
        if (done === true || value === undefined) throw new Error(await this.#lastWords());
        const [first, ...rest] = value.split('\t');
        if (first !== id) heard(value.split('\t'));
        else if (rest[0] === 'error') throw new Error(decoded(rest[1]).toString());
        else return rest;
      }
    } finally {
      clearTimeout(limit);
    }
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = this.#answers = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.stdin.end();
    child.kill('SIGTERM');
    await once(child, 'close');
  }

  #start(): AsyncIterator<string> {
    const { command, args, cwd, env } = this.#launch;
    // Proxies and certificates of the machine are none of the matrix's.
    const { PATH = '', HOME = '/' } = process.env;
    // Nor does Python leave what it compiled beside the sources.
    const base = { PATH, HOME, PYTHONDONTWRITEBYTECODE: '1' };
    const child = spawn(command, args, { cwd, env: { ...base, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => undefined);
    child.once('error', (error) => (this.#said += error.message));
    child.stderr.on('data', (chunk: Buffer) => (this.#said += chunk.toString()));
    this.#child = child;
    return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  async #lastWords(): Promise<string> {
    const child = this.#child;
    await this.stop();
    const how =
      child?.signalCode === 'SIGKILL' ? `no answer in ${answerLimitMs / 1000} s` : 'its program ended';
    const words = this.#said.trim().split('\n').at(-1) ?? '';
    this.#said = '';
    return words === '' ? how : `${how}: ${words}`;
  }
}

export function encoded(text: string | Buffer): string {
  return Buffer.from(text as string).toString('base64');
}

export function decoded(text = ''): Buffer {
  return Buffer.from(text, 'base64');
}
