import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { refuseOthers } from './inherited-options.ts';

interface Forgotten {
  readonly replica: string;
  readonly forgotten: number;
}

/** `usage forget`: lets reports continue without the counts of a replica that is gone. */
export function usageForgetCommand(usage: Command, context: Context): void {
  usage
    .command('forget')
    .description('let reports go on without the counts of a replica that is gone')
    .argument('<replica>', 'its host or id, as `replicas` shows it')
    .action(async (replica: string, _options: unknown, command: Command) => {
      refuseOthers(command, []);
      const result = await context.api().call<Forgotten>('POST', '/usage/forget', { replica });
      context
        .output()
        .result(
          result,
          () => `Reports no longer wait for ${replica}. If its counts come after all, they are corrections.`,
        );
    });
}
