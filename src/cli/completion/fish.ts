import { flagsWithValue, type CompletedCommand, type CompletedOption } from './tree.ts';

/** Completion of `name` for fish 3 and newer. */
export function fishCompletion(name: string, commands: readonly CompletedCommand[]): string {
  const at = `__${name.replaceAll('-', '_')}_at`;
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `# Completion of ${name} for fish.

function ${at} --argument-names wanted
    set -l words (commandline -opc)
    set -e words[1]
    set -l at ''
    set -l skip 0
    for word in $words
        if test $skip -eq 1
            set skip 0
            continue
        end
        switch $word
            case ${flagsWithValue(commands).map(quoted).join(' ')}
                set skip 1
            case '-*'
            case '*'
                switch (string trim -- "$at $word")
                    case ${paths.join(' ')}
                        set at (string trim -- "$at $word")
                end
        end
    end
    test "$at" = "$wanted"
end

complete -c ${name} -f
${commands.flatMap((command) => linesOf(name, at, command)).join('\n')}
`;
}

function linesOf(
  name: string,
  at: string,
  { path, subcommands, options, takesFile }: CompletedCommand,
): string[] {
  const here = `complete -c ${name} -n ${quoted(`${at} ${quoted(path)}`)}`;
  return [
    ...(takesFile ? [`${here} -F`] : []),
    ...subcommands.map((each) => `${here} -a ${quoted(each.name)} -d ${quoted(each.description)}`),
    ...options.map((option) => `${here} ${optionOf(option)} -d ${quoted(option.description)}`),
  ];
}

function optionOf({ flags, takesValue, values }: CompletedOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const value = values.length > 0 ? ` -x -a ${quoted(values.join(' '))}` : takesValue ? ' -x' : '';
  return names.join(' ') + value;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
