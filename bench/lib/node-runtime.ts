import { execFileSync } from 'node:child_process';

/** A Node program and the flags it is started with. */
export interface NodeRuntime {
  readonly program: string;
  readonly flags: readonly string[];
  /** Such as `Node v24.21.0 --use-largepages=silent`. */
  readonly version: string;
}

/** The Node that runs the harness. */
export const ownNode = nodeRuntime(process.execPath);

/**
 * What `--node` names.
 *
 * @param text the program, by its path or a name in PATH; flags may follow it, such as `node24 --use-largepages=silent`
 * @param flags further flags, for every Node that is measured
 * @throws Error when it is not a Node that knows these flags
 */
export function nodeRuntime(text: string, flags: readonly string[] = []): NodeRuntime {
  const [program = '', ...own] = text.split(/\s+(?=-)/);
  const all = [...own.map((flag) => flag.trim()), ...flags];
  try {
    const version = execFileSync(program, [...all, '-p', 'process.version'], { encoding: 'utf8' }).trim();
    return { program, flags: all, version: ['Node', version, ...all].join(' ') };
  } catch (error) {
    throw new Error(`--node ${text}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
