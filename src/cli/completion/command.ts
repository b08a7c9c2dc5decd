import { Argument, type Command } from 'commander';
import type { Context } from '../context.ts';
import { candidates, files } from './candidates.ts';

/**
 * Completion scripts, keyed by shell. Each script asks the program for candidates, but lets the shell complete file
 * names.
 */
const scripts = {
  bash: `_tenancy_gateway() {
  local line IFS=$'\\n'
  COMPREPLY=()
  while read -r line; do
    if [[ $line == ${files} ]]; then
      compopt -o filenames 2> /dev/null
      COMPREPLY+=( $(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}") )
    else
      COMPREPLY+=( "\${line%%$'\\t'*}" )
    fi
  done < <("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -F _tenancy_gateway tenancy-gateway`,
  zsh: `#compdef tenancy-gateway
_tenancy_gateway() {
  local line
  local -a found
  "\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null | while IFS= read -r line; do
    if [[ $line == ${files} ]]; then
      _files
    else
      found+=( "\${\${line//:/\\\\:}/$'\\t'/:}" )
    fi
  done
  _describe value found
}
if [[ "\${funcstack[1]}" == _tenancy_gateway ]]; then
  _tenancy_gateway "$@"
else
  compdef _tenancy_gateway tenancy-gateway
fi`,
  fish: `function __tenancy_gateway
    set -l words (commandline -opc)
    for line in ($words[1] complete -- $words[2..-1] (commandline -ct) 2> /dev/null)
        if test "$line" = ${files}
            __fish_complete_path (commandline -ct)
        else
            printf '%s\\n' $line
        end
    end
end
complete -c tenancy-gateway -f -a '(__tenancy_gateway)'`,
};

/** `completion <shell>`: prints a shell's completion script, which calls the hidden command `complete`. */
export function completionCommand(program: Command, context: Context): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'shell that reads the script').choices(Object.keys(scripts)))
    .addHelpText('after', usage)
    .action((shell: keyof typeof scripts) => {
      const script = scripts[shell];
      context.output().result({ shell, script }, () => script);
    });
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action((words: readonly string[]) => {
      const found = candidates(program, words);
      context.output().result(found, () => found.join('\n'));
    });
}

const usage = `
  $ source <(tenancy-gateway completion bash)     # in ~/.bashrc
  $ source <(tenancy-gateway completion zsh)      # in ~/.zshrc, after compinit
  $ tenancy-gateway completion fish > ~/.config/fish/completions/tenancy-gateway.fish`;
