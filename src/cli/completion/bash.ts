import { flagsWithValue, type CompletedCommand } from './tree.ts';

/** Completion of `name` for bash 3.2 and newer, without other software. */
export function bashCompletion(name: string, commands: readonly CompletedCommand[]): string {
  const command = `_${name.replaceAll('-', '_')}`;
  return `# Completion of ${name} for bash.

${command}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at='' skip='' words='' files='' i
  COMPREPLY=()
  for (( i = 1; i < COMP_CWORD; i++ )); do
    if [[ -n $skip ]]; then
      skip=''
      continue
    fi
    case "\${COMP_WORDS[i]}" in
      ${flagsWithValue(commands).join('|')}) skip=1 ;;
      -*) ;;
      *) case "\${at:+$at }\${COMP_WORDS[i]}" in
        ${pathsOf(commands)}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
      esac ;;
    esac
  done
  case "$at:$prev" in
${commands.flatMap(valueCases).join('\n')}
  esac
  [[ -n $skip ]] && return
  case "$at" in
${commands.map(wordCase).join('\n')}
  esac
  COMPREPLY=( $(compgen -W "$words" -- "$cur") )
  if [[ -n $files && $cur != -* ]]; then
    local IFS=$'\\n'
    compopt -o filenames 2> /dev/null
    COMPREPLY+=( $(compgen -f -- "$cur") )
  fi
}

complete -F ${command} ${name}
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
      return `    ${patterns}) COMPREPLY=( $(compgen -W '${values.join(' ')}' -- "$cur") ); return ;;`;
    });
}

function wordCase({ path, subcommands, options, takesFile }: CompletedCommand): string {
  const flags = options.flatMap((option) => option.flags).join(' ');
  const names = subcommands.map(({ name }) => name).join(' ');
  const files = takesFile ? ' files=1;' : '';
  return `    '${path}')${files} if [[ $cur == -* ]]; then words='${flags}'; else words='${names}'; fi ;;`;
}
