import { flagsWithValue, type CompletedCommand } from './tree.ts';

/** Completion of `name` for zsh, to be sourced or put into a folder of `fpath`. */
export function zshCompletion(name: string, commands: readonly CompletedCommand[]): string {
  const command = `_${name.replaceAll('-', '_')}`;
  return `#compdef ${name}
# Completion of ${name} for zsh.

${command}() {
  local at='' skip='' word
  local -a subcommands options values
  local -i i
  for (( i = 2; i < CURRENT; i++ )); do
    word=\${words[i]}
    if [[ -n $skip ]]; then
      skip=''
      continue
    fi
    case "$word" in
      ${flagsWithValue(commands).join('|')}) skip=1 ;;
      -*) ;;
      *) case "\${at:+$at }$word" in
        ${pathsOf(commands)}) at="\${at:+$at }$word" ;;
      esac ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
${commands.flatMap(valueCases).join('\n')}
  esac
  [[ -n $skip ]] && return
  case "$at" in
${commands.map(wordCase).join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe -o option options
  elif (( \${#subcommands} )); then
    _describe command subcommands
  fi
}

if [[ "\${funcstack[1]}" == ${command} ]]; then
  ${command} "$@"
else
  compdef ${command} ${name}
fi
`;
}

function pathsOf(commands: readonly CompletedCommand[]): string {
  return commands
    .filter(({ path }) => path !== '')
    .map(({ path }) => `'${path}'`)
    .join('|');
}

function valueCases({ path, options }: CompletedCommand): string[] {
  return options
    .filter(({ values }) => values.length > 0)
    .map(({ flags, values }) => {
      const patterns = flags.map((flag) => `'${path}:${flag}'`).join('|');
      return `    ${patterns}) values=(${values.map(quoted).join(' ')}); _describe value values; return ;;`;
    });
}

function wordCase({ path, subcommands, options, takesFile }: CompletedCommand): string {
  const described = options.flatMap(({ flags, description }) =>
    flags.map((flag) => entry(flag, description)),
  );
  const names = subcommands.map(({ name, description }) => entry(name, description));
  const files = takesFile ? ' [[ ${words[CURRENT]} == -* ]] || _files;' : '';
  return `    '${path}')${files}
      subcommands=(${names.join(' ')})
      options=(${described.join(' ')}) ;;`;
}

/** A name with its description, in the form for `_describe`. */
function entry(name: string, description: string): string {
  return quoted(`${name}:${description.replaceAll(':', '\\:')}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
