/** An operator's commands, as they are typed, at two replicas. */
import { operatorToken } from './apis.ts';
import { commandLine, commandLineAtTerminal, words, type Ended } from './command-line.ts';
import { startReplicas, type Replicas } from './replicas.ts';
import type { Scope } from './servers.ts';

export interface Commands extends Replicas {
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command to its end. @param env variables beside those of the operator */
  readonly run: (line: string, env?: Readonly<Record<string, string>>) => Promise<Ended>;
  /** What a command prints, which ends well. */
  readonly text: (line: string) => Promise<string>;
  /** The same with `--json`. */
  readonly json: (line: string) => Promise<Readonly<Record<string, unknown>>>;
  /** Runs a command at a terminal where a person types something. */
  readonly typing: (typed: string, line: string) => Promise<Ended>;
}

/** @param yaml the configuration file of both replicas */
export async function startCommands(t: Scope, yaml = ''): Promise<Commands> {
  const replicas = await startReplicas(t, yaml);
  const env = { INTERNAL_PORT: new URL(replicas.internalOrigin).port, ADMIN_TOKEN: operatorToken };
  const run: Commands['run'] = (line, more) => commandLine({ ...env, ...more }, ...words(line));
  const text: Commands['text'] = async (line) => {
    const { code, stdout, stderr } = await run(line);
    if (code !== 0) throw new Error(`${line}: exit code ${code}: ${stderr}`);
    return stdout;
  };
  return {
    ...replicas,
    ...{ env, run, text },
    json: async (line) => JSON.parse(await text(`--json ${line}`)) as Readonly<Record<string, unknown>>,
    typing: (typed, line) => commandLineAtTerminal(typed, env, ...words(line)),
  };
}
