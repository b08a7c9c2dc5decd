import { readFileSync } from 'node:fs';
import { inProject } from '../../lib/project.mjs';

/** The gateway's version, as package.json has it. */
export const { version } = JSON.parse(readFileSync(inProject('package.json'), 'utf8')) as {
  readonly version: string;
};
