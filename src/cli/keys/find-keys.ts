import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import { showLimits } from '../limit-options.ts';
import type { Context } from '../context.ts';
import { exitCode, Failure } from '../failure.ts';
import { findAccount } from '../find-account.ts';
import type { Listing } from '../operator-api.ts';
import type { ApiKey, HeldApiKey } from '../../generated/operator-types.ts';
import { fields, printable, status, table } from '../output.ts';
import { moreNote, pageOptions, readList, type PageOptions } from '../pages.ts';

interface FindOptions extends PageOptions {
  readonly prefix?: string;
  readonly last4?: string;
  readonly account?: string;
  readonly status?: string;
  readonly stdin?: true;
  readonly sha256?: string;
}

/** `keys find | show`: finds a key of any account. */
export function findCommands(keys: Command, context: Context): void {
  pageOptions(
    keys
      .command('find')
      .description('find keys of any account by parts of the key, by its digest or by its account')
      .option(
        '--prefix <text>',
        'the first characters, as many as you know; at most 16 are sent, of a whole key its digest before them',
      )
      .option('--last4 <text>', 'the last four characters')
      .option('--stdin', 'by the key itself, read from standard input; only its digest leaves this process')
      .option('--sha256 <hex>', 'by the digest of the key, as a scanner may name it')
      .option('--account <id>', 'the account, or sub-account, that has it')
      .addOption(statusOption()),
  ).action(async (options: FindOptions) => {
    const page = await find(context, options);
    if (page.data.length === 0) throw new Failure(exitCode.failed, 'There is no such key.', whatIsShown);
    context.output().result(page, () => list(page));
  });

  keys
    .command('show')
    .description('show any key, with its account')
    .argument('<key-id>')
    .action(async (id: string) => {
      const key = await context.api().call<HeldApiKey>('GET', `/api-keys/${encodeURIComponent(id)}`);
      context.output().result(key, () => show(key));
    });
}

const whatIsShown =
  'The gateway knows at most the first 16 characters of a key and the last four; of imported keys fewer, or none.\n' +
  'Find such a key by its whole value (`tenancy-gateway keys find --stdin < file`) or by its account (--account).';

/** Length of the shortest possible key, in characters. The prefix that the gateway shows of a key is never longer. */
const shortestKey = 16;

/** Finds keys that match the options. If the prefix is long enough to be a whole key, searches by digest first. */
async function find(context: Context, options: FindOptions): Promise<Listing<HeldApiKey>> {
  const { prefix, last4, account, status, stdin, sha256 } = options;
  const found = account === undefined ? undefined : await findAccount(context, account);
  const account_id = found && (found.subAccount ?? found.parent);
  const ask = (by: Readonly<Record<string, string | undefined>>): Promise<Listing<HeldApiKey>> =>
    readList(context, '/api-keys', options, { last4, account_id, status, ...by });
  if (stdin) return ask({ prefix, sha256: await digestOfInput(context) });
  if (prefix === undefined || prefix.length < shortestKey) return ask({ prefix, sha256 });
  const page = await ask({ last4: undefined, sha256: sha256 ?? digestOf(prefix) });
  if (page.data.length === 0) return ask({ prefix: prefix.slice(0, shortestKey), sha256 });
  context
    .output()
    .note('That is a whole key. The history of this shell may keep it: --stdin reads it from a file.\n');
  return page;
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/**
 * Reads a key from standard input and returns its SHA-256 in hexadecimal. @throws {Failure} if the input is not one key
 */
async function digestOfInput({ stdin }: Context): Promise<string> {
  const key = (await text(stdin)).trim();
  if (/^[!-~]+$/.test(key)) return digestOf(key);
  throw new Failure(exitCode.usage, 'Standard input must hold one API key and nothing else.');
}

function show(key: HeldApiKey): string {
  const { account, parent } = key;
  return fields([
    ['id', key.id],
    ['name', printable(key.name)],
    ['key', hintsOf(key)],
    ['status', status(key.status)],
    ['scopes', key.scopes.join(' ') || '(none)'],
    [
      parent === null ? 'account' : 'sub-account',
      `${account.id}  ${printable(account.name)} (${status(account.status)})`,
    ],
    ...(account.external_id === null ? [] : [['external id', printable(account.external_id)] as const]),
    ...(parent === null
      ? []
      : [['parent', `${parent.id}  ${printable(parent.name)} (${status(parent.status)})`] as const]),
    ['created', key.created_at],
    ['last used', key.last_used_at ?? 'never'],
    ['expires', key.expires_at ?? 'never'],
    ['limits', showLimits(key.limits)],
    ...(key.revoked_at === null ? [] : [['revoked', key.revoked_at] as const]),
    ...(key.rotated_from === null ? [] : [['in place of', key.rotated_from] as const]),
  ]);
}

function list(page: Listing<HeldApiKey>): string {
  const rows = page.data.map((key) => [
    key.id,
    printable(key.name),
    hintsOf(key),
    status(key.status),
    printable(key.account.name),
    printable(key.parent?.name ?? '–'),
    key.last_used_at ?? 'never',
  ]);
  return table(['ID', 'NAME', 'KEY', 'STATUS', 'ACCOUNT', 'PARENT', 'LAST USED'], rows) + moreNote(page);
}

/** Makes the option that filters a list of keys by status. */
export function statusOption(): Option {
  return new Option('--status <status>', 'only those with this status').choices([
    'active',
    'expired',
    'revoked',
  ]);
}

/**
 * Formats the first and last characters of a key. People recognise a key by these characters. An imported key may lack
 * either.
 */
export function hintsOf({ prefix, last4 }: Pick<ApiKey, 'prefix' | 'last4'>): string {
  return `${prefix ?? ''}…${last4 ?? ''}`;
}
