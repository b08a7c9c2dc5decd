import type { Command } from 'commander';

/** `serve`: the gateway itself, as `node dist/main.js`. Goes on until a signal ends the process, which sets the exit code. */
export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('run the gateway in this process, until SIGTERM')
    .action(async () => {
      // Only now: other commands do without the gateway's code.
      await import('../serve.ts');
    });
}
