import type { Readable, Writable } from 'node:stream';

/** A stream of text to a person or a program. */
export type TextStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What a command line has around it; `process` is one. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: TextStream;
  readonly stderr: TextStream;
}
