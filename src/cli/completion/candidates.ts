import type { Command, Option } from 'commander';

/** Candidate that tells the shell to complete file names. */
export const files = ':files';

/**
 * Returns the candidates for the last word of a command line.
 *
 * @param words words after the program's name, up to the cursor; the last one may be empty
 * @returns candidates, each followed by a TAB and its description if it has one
 */
export function candidates(program: Command, words: readonly string[]): readonly string[] {
  const begun = words.at(-1) ?? '';
  let command = program;
  let valueOf: Option | undefined;
  for (const word of words.slice(0, -1)) {
    const isValue = valueOf !== undefined;
    valueOf = undefined;
    if (isValue) continue;
    // Options of the program itself are accepted anywhere on the line.
    const option = optionsOf(program, command).find(({ long, short }) => word === long || word === short);
    if (option?.required === true || option?.optional === true) valueOf = option;
    command = command.commands.find((each) => each.name() === word) ?? command;
  }
  if (valueOf !== undefined) return beginning(begun, valueOf.argChoices ?? []);
  if (begun.startsWith('-'))
    return beginning(
      begun,
      optionsOf(program, command).flatMap(({ long, short, description }) =>
        [long, short].filter((flag) => flag !== undefined).map((flag) => `${flag}\t${description}`),
      ),
    );
  const commands = command.createHelp().visibleCommands(command);
  const takesFile = command.registeredArguments.some((argument) => argument.name().includes('file'));
  return [
    ...beginning(
      begun,
      commands.map((each) => `${each.name()}\t${each.description()}`),
    ),
    ...(takesFile ? [files] : []),
  ];
}

function optionsOf(program: Command, command: Command): readonly Option[] {
  return [...new Set([command, program])].flatMap((each) => each.createHelp().visibleOptions(each));
}

function beginning(begun: string, all: readonly string[]): readonly string[] {
  return all.filter((each) => each.startsWith(begun));
}
