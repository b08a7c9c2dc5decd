import type { Command } from 'commander';
import { nonEmpty, orNull } from '../account-options.ts';
import { makeChange } from '../change.ts';
import type { Context } from '../context.ts';
import { exitCode, Failure } from '../failure.ts';
import { accountForms, findAccount } from '../find-account.ts';
import { limitOptions, limitsMember, showLimits, type LimitOptions } from '../limit-options.ts';
import { hintsOf } from './find-keys.ts';
import type { ApiKey, MintedApiKey } from '../../generated/operator-types.ts';
import { fields, printable, status, styled } from '../output.ts';
import { readExpiry, readSeconds } from '../times.ts';

interface UpdateOptions extends LimitOptions {
  readonly name?: string;
  /** `false` for `--no-expires-at`. */
  readonly expiresAt?: string | false;
}

interface RotateOptions {
  readonly expiresIn: number;
  readonly expiresAt?: string;
}

/** `keys update | rotate | revoke`: changes any key. */
export function changeCommands(keys: Command, context: Context): void {
  updateCommand(keys, context);
  rotateCommand(keys, context);
  revokeCommand(keys, context);
}

function updateCommand(keys: Command, context: Context): void {
  const update = keys
    .command('update')
    .description('change the name, the expiry or the limits of a key; members without an option stay')
    .argument('<key-id>')
    .option('--name <name>', 'what the key is for')
    .option(
      '--expires-at <time>',
      'RFC 3339, such as 2030-01-01T00:00:00Z, or such as 90d from now; holds everywhere once this returns',
      readExpiry,
    )
    .option('--no-expires-at', 'it never expires');
  limitOptions(update, 'key').action(async (id: string, options: UpdateOptions) => {
    const { name, expiresAt } = options;
    const body = nonEmpty({
      ...(name !== undefined && { name }),
      ...(expiresAt !== undefined && { expires_at: orNull(expiresAt) }),
      ...limitsMember(options),
    });
    await makeChange<ApiKey>(
      context,
      ['PATCH', pathOf(id), body],
      (key) =>
        `${hintsOf(key)} (${printable(key.name)}) expires: ${key.expires_at ?? 'never'}. Limits: ${showLimits(key.limits)}.`,
    );
  });
}

function rotateCommand(keys: Command, context: Context): void {
  keys
    .command('rotate')
    .description('replace a key by a new one; its value is shown once and cannot be shown again')
    .argument('<key-id>')
    .requiredOption(
      '--expires-in <time>',
      'how long the old key keeps working, such as 90s, 15m, 24h or 7d; 0 revokes it at once',
      readSeconds,
    )
    .option(
      '--expires-at <time>',
      'when the new key expires (otherwise never): RFC 3339, or such as 90d from now',
      readExpiry,
    )
    .action(async (id: string, { expiresIn, expiresAt }: RotateOptions) => {
      const body = { expires_in: expiresIn, ...(expiresAt !== undefined && { expires_at: expiresAt }) };
      await makeChange(context, ['POST', `${pathOf(id)}/rotate`, body], showMinted);
    });
}

function revokeCommand(keys: Command, context: Context): void {
  keys
    .command('revoke')
    .description('revoke a key, or all keys of an account: once this returns, every replica refuses them')
    .usage('[options] [account] <key-id>\n       tenancy-gateway keys revoke --all <account>')
    .argument('<ids...>', 'id of the key, with or without its account before it; with --all only the account')
    .option('--all', `all keys of one account, by ${accountForms}`)
    .action(async (ids: string[], { all }: { readonly all?: true }) => {
      if (all) return revokeAll(context, ids);
      const [first = '', second] = ids;
      if (ids.length > 2)
        throw new Failure(exitCode.usage, 'One key at a time: its id, or its account and then its id.');
      const path = second === undefined ? pathOf(first) : await pathBelow(context, first, second);
      await makeChange<ApiKey>(
        context,
        ['POST', `${path}/revoke`],
        (key) => `${hintsOf(key)} (${printable(key.name)}) is ${status(key.status)}.`,
      );
    });
}

/** Revokes all keys of a parent or of a sub-account. */
async function revokeAll(context: Context, given: readonly string[]): Promise<void> {
  const [account, ...more] = given;
  if (account === undefined || more.length > 0)
    throw new Failure(exitCode.usage, 'With --all, name one account and no key.');
  const { parent, subAccount } = await findAccount(context, account);
  const ofOthers = subAccount === null ? ' Keys of its sub-accounts stay as they are.' : '';
  await makeChange<{ readonly revoked: number }>(
    context,
    ['POST', `/accounts/${subAccount ?? parent}/api-keys/revoke-all`],
    ({ revoked }) =>
      `All keys of ${account} are ${status('revoked')}, ${revoked} of them by this command.${ofOthers}`,
  );
}

/**
 * Returns the path of a key on a given account. A parent's key has a path below its account. The path of a
 * sub-account's key is `/api-keys/{id}`, without an account, so the key is read first.
 *
 * @throws {Failure} if the sub-account has no such key
 */
async function pathBelow(context: Context, account: string, id: string): Promise<string> {
  const { parent, subAccount } = await findAccount(context, account);
  if (subAccount === null) return `/accounts/${parent}${pathOf(id)}`;
  const key = await context.api().call<ApiKey>('GET', pathOf(id));
  if (key.account_id === subAccount) return pathOf(id);
  throw new Failure(exitCode.failed, `The sub-account ${account} has no API key ${id}.`);
}

function pathOf(id: string): string {
  return `/api-keys/${encodeURIComponent(id)}`;
}

/**
 * A new key with its secrets. Only a replayed response lacks the secrets. The command line never gets a replayed
 * response, because it sends no `Idempotency-Key`.
 */
export type Minted = MintedApiKey & { readonly api_key: string; readonly client_secret: string };

/** Formats a new key with its secrets. */
export function showMinted(key: Minted): string {
  return [
    fields([
      ['id', key.id],
      ['name', printable(key.name)],
      ['scopes', key.scopes.join(' ') || '(none)'],
      ['expires', key.expires_at ?? 'never'],
      ['api key', styled('green', key.api_key)],
      ['client secret', styled('green', key.client_secret)],
    ]),
    '',
    'Keep the key and the secret now: they are not shown again.',
  ].join('\n');
}
