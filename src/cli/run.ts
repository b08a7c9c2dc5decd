import { Command, CommanderError, Option } from 'commander';
import { accountCommands } from './accounts.ts';
import { completionCommand } from './completion/command.ts';
import { configCommands } from './config-check.ts';
import type { Context } from './context.ts';
import { secrets } from '../domain/api-key.ts';
import { version } from '../wiring/version.ts';
import { erasureCommands } from './deletions.ts';
import { eventCommands } from './events.ts';
import { explainCommand } from './explain.ts';
import { exitCode, Failure, type ExitCode } from './failure.ts';
import { keyCommands } from './keys/keys.ts';
import { importCommand } from './import/command.ts';
import { migrateCommand } from './migrate.ts';
import { operatorApi } from './operator-api.ts';
import { standardOutput, type Output } from './output.ts';
import { planCommands } from './plans.ts';
import { replicasCommand } from './replicas.ts';
import { restoredCommand } from './restored.ts';
import { serveCommand } from './serve.ts';
import { subAccountCommands } from './sub-accounts.ts';
import type { Surroundings, TextStream } from './surroundings.ts';
import { findTarget, type Target } from './target.ts';
import { syncCommand } from './sync/command.ts';
import { usageCommand } from './usage/usage.ts';
import { whoamiCommand } from './whoami.ts';

interface GlobalOptions {
  readonly json?: true;
  readonly output: 'table' | 'json';
  readonly url?: string;
}

/**
 * Runs one command line. Never throws: it writes errors out and returns the exit code.
 *
 * @param args words after the name of the program
 */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const { env, stdin, stdout, stderr } = surroundings;
  const program = new Command('tenancy-gateway')
    .description('Run and operate Tenancy Gateway: accounts, keys, migrations, configuration.')
    .version(version(), '-V, --version')
    .addOption(
      new Option('--output <format>', 'table for people, json for programs')
        .choices(['table', 'json'])
        .default('table'),
    )
    .option('--json', 'the same as --output json')
    .option('--url <url>', 'internal address of the gateway (otherwise INTERNAL_HOST and INTERNAL_PORT)')
    .showHelpAfterError('(--help lists the commands)')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
    })
    .addHelpText('after', notes);

  const options = (): GlobalOptions => program.opts<GlobalOptions>();
  const output = (): Output =>
    standardOutput(surroundings, options().json === true || options().output === 'json');
  const target = (): Target => findTarget(env, options().url);
  const context: Context = {
    ...{ env, stdin, stdout, stderr },
    api: () => operatorApi(target()),
    target,
    output,
  };
  addCommands(program, context);

  try {
    refuseSecrets(args);
    await program.parseAsync(args, { from: 'user' });
    return exitCode.ok;
  } catch (error) {
    // Commander has already written its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage;
    const failure = error instanceof Failure ? error : new Failure(exitCode.failed, (error as Error).message);
    output().failure(failure);
    return failure.code;
  }
}

/** Columns at which a help text wraps. */
function widthOf({ isTTY, columns = 80 }: TextStream): number {
  return isTTY === true ? columns : 80;
}

/** Adds every command of `tenancy-gateway`. */
export function addCommands(program: Command, context: Context): void {
  for (const add of [
    serveCommand,
    accountCommands,
    planCommands,
    subAccountCommands,
    keyCommands,
    importCommand,
    syncCommand,
    usageCommand,
    eventCommands,
    erasureCommands,
    explainCommand,
    replicasCommand,
    migrateCommand,
    restoredCommand,
    configCommands,
    whoamiCommand,
    completionCommand,
  ])
    add(program, context);
}

/** Matches a text that is a secret as a whole. */
const secret = new RegExp(`^(?:${secrets.source})$`);

/**
 * Refuses a command line that contains an API key or a client secret, also behind a `=`. Arguments stay in the shell's
 * history and are visible in process lists. A key after `--prefix` is allowed, because people search for a leaked key
 * that way. For a whole key, the search first sends only the key's digest. If no key has the digest, the search sends
 * the key's first 16 characters.
 *
 * @throws {Failure}
 */
function refuseSecrets(args: readonly string[]): void {
  const isPrefix = (arg: string, i: number): boolean =>
    arg.startsWith('--prefix=') || args[i - 1] === '--prefix';
  const holdsSecret = (arg: string, i: number): boolean =>
    !isPrefix(arg, i) && arg.split('=').some((part) => secret.test(part));
  if (!args.some(holdsSecret)) return;
  throw new Failure(
    exitCode.usage,
    'An argument contains a key or a client secret. Shells keep what is typed: replace it if it is in use.',
    'Commands take the id of a key. By the key itself: `tenancy-gateway keys find --stdin < file`.',
  );
}

const notes = `
Commands about accounts, plans, sub-accounts, keys, usage, events and replicas talk to the operator API of a running gateway. They find it by the
variables it was started with: CONFIG, INTERNAL_HOST, INTERNAL_PORT, DATA_DIR. Your token is TENANCY_GATEWAY_TOKEN,
otherwise ADMIN_TOKEN.

Exit codes: 0 done, 1 refused or failed, 64 wrong usage, 69 gateway or database not reachable,
77 operator token missing, wrong, or of too low a role, 78 faults in the configuration.

  $ tenancy-gateway accounts create "Ada Logistics"
  $ tenancy-gateway keys create <account-id> --name production
  $ tenancy-gateway config check gateway.yaml`;
