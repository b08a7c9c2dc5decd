import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { showReceipt } from './change.ts';
import type { Context } from './context.ts';
import { exitCode, Failure } from './failure.ts';
import { accountForms } from './find-account.ts';
import type { Erasure } from '../generated/operator-types.ts';
import { fields } from './output.ts';

/** Options of commands that delete. */
export interface DeleteOptions {
  readonly yes?: true;
}

/** An account to delete. */
export interface Deletion {
  readonly id: string;
  /** Path of the account in the operator API. */
  readonly path: string;
  /** Sentences that name everything that goes with the account. */
  readonly losses: string;
}

/** Adds the option that stands for the confirmation. */
export function deleteOptions(command: Command): Command {
  return command.option('--yes', 'do not ask: scripts need this');
}

/**
 * Deletes an account after a confirmation, and outputs the receipt.
 *
 * @throws {Failure} if the user does not confirm, or cannot be asked
 */
export async function deleteAccount(
  context: Context,
  { id, path, losses }: Deletion,
  { yes }: DeleteOptions,
): Promise<void> {
  if (yes !== true) await confirm(context, id, losses);
  const { enforced } = await context.api().change<null>('DELETE', path);
  context
    .output()
    .result({ id, deleted: true, ...(enforced && { enforced }) }, () =>
      [
        `${id} is deleted.`,
        ...(enforced === null ? [] : [showReceipt(enforced)]),
        '',
        'Names and addresses are erased within an hour:',
        `  tenancy-gateway erasures show ${id}`,
      ].join('\n'),
    );
}

/** Asks the user to type the id. */
async function confirm({ stdin, stderr }: Context, id: string, losses: string): Promise<void> {
  const question = `${losses}\nThis cannot be undone.`;
  if (stdin.isTTY !== true)
    throw new Failure(exitCode.usage, `${question} Nothing was deleted.`, 'Run it again with --yes.');
  const lines = createInterface({ input: stdin, output: stderr });
  const typed = await lines.question(`${question}\nType the id to go on: `);
  lines.close();
  if (typed.trim() !== id) throw new Failure(exitCode.failed, 'That is not the id. Nothing was deleted.');
}

/** Adds the command `erasures show`. */
export function erasureCommands(program: Command, context: Context): void {
  program
    .command('erasures')
    .description('erasures of deleted accounts')
    .command('show')
    .description('show how far the erasure of a deleted account has come')
    .argument(
      '<account-id>',
      `id of the deleted account or sub-account, not ${accountForms.split(', or ')[1]}`,
    )
    .action(async (id: string) => {
      const erasure = await context.api().call<Erasure>('GET', `/erasures/${encodeURIComponent(id)}`);
      context.output().result(erasure, () => show(erasure));
    });
}

function show(erasure: Erasure): string {
  return fields([
    ['id', erasure.account_id],
    ['parent', erasure.parent_id ?? '(none)'],
    ['status', erasure.status],
    ['deleted', erasure.deleted_at],
    ['erased', erasure.erased_at ?? '(not yet)'],
    ['accounts', String(erasure.accounts)],
    ['API keys', String(erasure.api_keys)],
    ['events', String(erasure.events)],
    ['idempotency records', String(erasure.idempotency_records)],
  ]);
}
