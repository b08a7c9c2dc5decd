import type { Command } from 'commander';

/** A command as a shell completes it. */
export interface CompletedCommand {
  /** Words of the command, such as `keys list`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** Whether it takes a file name. */
  readonly takesFile: boolean;
}

/** An option of a command. */
export interface CompletedOption {
  /** Forms of the option, such as `--version` and `-V`. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Allowed values; empty if any value is allowed. */
  readonly values: readonly string[];
}

/**
 * All commands below `program`, and `program` itself. Each has the options of its parents, because they may stand
 * anywhere.
 */
export function completedCommands(program: Command): readonly CompletedCommand[] {
  const everywhere = optionsOf(program);
  const walk = (command: Command, path: string): CompletedCommand[] => [
    {
      path,
      subcommands: command.commands.map((each) => ({ name: each.name(), description: each.description() })),
      options: command === program ? everywhere : [...optionsOf(command), ...everywhere],
      takesFile: command.registeredArguments.some((argument) => argument.name().includes('file')),
    },
    ...command.commands.flatMap((each) => walk(each, `${path} ${each.name()}`.trim())),
  ];
  return walk(program, '');
}

/** Flags whose next word is their value. */
export function flagsWithValue(commands: readonly CompletedCommand[]): readonly string[] {
  const flags = commands.flatMap(({ options }) =>
    options.filter(({ takesValue }) => takesValue).flatMap((option) => option.flags),
  );
  return [...new Set(flags)];
}

function optionsOf(command: Command): CompletedOption[] {
  const help = command.createHelp();
  return help.visibleOptions(command).map((option) => ({
    flags: [option.long, option.short].filter((flag) => flag !== undefined),
    description: option.description,
    takesValue: option.required || option.optional,
    values: option.argChoices ?? [],
  }));
}
