import type { Command } from 'commander';
import { exitCode, Failure } from '../failure.ts';

/**
 * Rejects options of `usage` that the subcommand does not use; commander would accept them and ignore them.
 *
 * @param taken names of the options that the subcommand uses
 * @throws {Failure}
 */
export function refuseOthers(command: Command, taken: readonly string[]): void {
  const { parent } = command;
  for (const option of parent?.options ?? []) {
    const name = option.attributeName();
    if (taken.includes(name) || parent?.getOptionValueSource(name) !== 'cli') continue;
    throw new Failure(exitCode.usage, `\`usage ${command.name()}\` has no option ${option.long ?? name}.`);
  }
}
