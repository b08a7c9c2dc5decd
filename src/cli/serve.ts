import type { Command } from 'commander';

/** `serve`: runs the gateway, as `node dist/main.js` does, until a signal ends the process and sets the exit code. */
export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('run the gateway in this process, until SIGTERM')
    .action(async () => {
      // The import is dynamic, because other commands do not need the gateway's code.
      await import('../serve.ts');
    });
}
