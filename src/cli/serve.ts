import type { Command } from 'commander';
import { restartWithV8Flags } from '../wiring/v8-flags.ts';

/** `serve`: runs the gateway just like `node dist/main.js`. The gateway itself ends the process after a signal. */
export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('run the gateway in this process, until SIGTERM')
    .action(async () => {
      restartWithV8Flags();
      process.setSourceMapsEnabled(true);
      // The import is dynamic, because other commands do not need the gateway's code.
      await import('../serve.ts');
    });
}
