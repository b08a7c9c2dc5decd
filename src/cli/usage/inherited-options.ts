import type { Command } from 'commander';
import { exitCode, Failure } from '../failure.ts';

/**
 * Refuses options of `usage` that its subcommand does not use. commander accepts such options, but they have no effect.
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
