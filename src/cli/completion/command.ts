import { Argument, type Command } from 'commander';
import type { Context } from '../context.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { completedCommands, type CompletedCommand } from './tree.ts';
import { zshCompletion } from './zsh.ts';

const shells: Readonly<Record<string, (name: string, commands: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** `completion <shell>`: prints a script that completes the present commands and options. */
export function completionCommand(program: Command, context: Context): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'shell that reads the script').choices(Object.keys(shells)))
    .addHelpText('after', usage)
    .action((shell: string) => {
      const script = shells[shell]?.(program.name(), completedCommands(program)) ?? '';
      context.output().result({ shell, script }, () => script.trimEnd());
    });
}

const usage = `
  $ source <(tenancy-gateway completion bash)     # in ~/.bashrc
  $ source <(tenancy-gateway completion zsh)      # in ~/.zshrc, after compinit
  $ tenancy-gateway completion fish > ~/.config/fish/completions/tenancy-gateway.fish`;
