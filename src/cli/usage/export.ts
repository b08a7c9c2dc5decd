import type { Command } from 'commander';
import { hourMs } from '../../domain/usage.ts';
import type { Context } from '../context.ts';
import { exitCode, Failure } from '../failure.ts';
import type { Listing } from '../operator-api.ts';
import { printableJson } from '../output.ts';
import { readPeriod } from '../times.ts';
import { refuseOthers } from './inherited-options.ts';

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly dryRun?: true;
}

interface Exported extends Listing<Readonly<Record<string, unknown>>> {
  readonly from: string;
  readonly to: string;
  readonly rejected: readonly string[];
}

/** `usage export`: resends the usage of past hours to the billing system, or only shows the events. */
export function usageExportCommand(usage: Command, context: Context): void {
  usage
    .command('export')
    .description('send the usage of past hours to the billing system again, with the same ids')
    .usage('--from <time> --to <time> [options]')
    .option('--dry-run', 'write the events, one JSON object a line, without sending them')
    .action(async (_options: unknown, command: Command) => {
      refuseOthers(command, ['from', 'to']);
      // commander treats `--from` and `--to` as options of the parent command `usage`, wherever they appear.
      const options = command.optsWithGlobals<Options>();
      const { dryRun = false } = options;
      const { from, to } = readPeriod(options, hourMs);
      if (from === undefined || to === undefined)
        throw new Failure(exitCode.usage, 'Which hours? --from <time> --to <time>, on the hour, UTC.');
      const rejected: string[] = [];
      let events = 0;
      for (let cursor: string | null | undefined; cursor !== null;) {
        const body = { from, to, dry_run: dryRun, ...(cursor !== undefined && { cursor }) };
        const exported: Exported = await context.api().call<Exported>('POST', '/usage/export', body);
        if (dryRun) for (const event of exported.data) context.stdout.write(`${printableJson(event)}\n`);
        rejected.push(...exported.rejected);
        events += exported.data.length;
        cursor = exported.next_cursor;
      }
      if (dryRun) return;
      const accepted = events - rejected.length;
      context
        .output()
        .result(
          { from, to, events, accepted, rejected },
          () => `Sent: ${events} events. Accepted: ${accepted}.`,
        );
      if (rejected.length > 0)
        throw new Failure(
          exitCode.failed,
          `The receiver rejected ${rejected.length} events, such as ${rejected[0] ?? ''}.`,
          'It may not know the account. The others were accepted.',
        );
    });
}
