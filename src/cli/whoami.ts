import type { Command } from 'commander';
import { version } from '../wiring/version.ts';
import type { Operator } from '../generated/operator-types.ts';
import type { Context } from './context.ts';
import { fields } from './output.ts';

/** `whoami`: shows the gateway that commands use, and the operator whose token they send. */
export function whoamiCommand(program: Command, context: Context): void {
  program
    .command('whoami')
    .description('the gateway that commands talk to, its version, and the operator token')
    .action(async () => {
      const { url, tokenFrom } = context.target();
      const {
        operator,
        role,
        version: itsVersion,
        replica_id,
      } = await context.api().call<Operator>('GET', '/whoami');
      const shown = {
        ...{ url, version: itsVersion, replica_id, operator, role },
        ...{ token_from: tokenFrom, cli_version: version() },
      };
      context.output().result(shown, () =>
        fields([
          ['gateway', url],
          ['version', itsVersion],
          ['replica', replica_id ?? '(not registered)'],
          ['operator', operator],
          ['role', role],
          ['token from', tokenFrom],
          ['this command', version()],
        ]),
      );
    });
}
