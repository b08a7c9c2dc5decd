import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import { showLimits } from '../limit-options.ts';
import type { Context } from '../context.ts';
import { exitCode, Failure } from '../failure.ts';
import type { ApiKey, HeldKey, Listing } from '../operator-api.ts';
import { fields, status, table } from '../output.ts';
import { moreNote, pageOptions, pageQuery, type PageOptions } from '../pages.ts';

interface FindOptions extends PageOptions {
  readonly prefix?: string;
  readonly last4?: string;
  readonly account?: string;
  readonly status?: string;
  readonly stdin?: true;
}

/** `keys find | show`: any key, by what is at hand of it. */
export function findCommands(keys: Command, context: Context): void {
  pageOptions(
    keys
      .command('find')
      .description('find keys of any account, by what is known of them')
      .option('--prefix <text>', 'the first characters, as lists show them')
      .option('--last4 <text>', 'the last four')
      .option('--stdin', 'by the key itself, read from standard input; only its digest leaves this process')
      .option('--account <id>', 'the account, or sub-account, that has it')
      .addOption(statusOption()),
  ).action(async (options: FindOptions) => {
    const query = new URLSearchParams(pageQuery(options));
    const { prefix, last4, account, status, stdin } = options;
    const given = { prefix, last4, account_id: account, status, sha256: stdin && (await digestOfInput()) };
    for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, value);
    const page = await context.api().call<Listing<HeldKey>>('GET', `/api-keys?${query.toString()}`);
    context.output().result(page, () => list(page));
  });

  keys
    .command('show')
    .description('show any key, with its account')
    .argument('<key-id>')
    .action(async (id: string) => {
      const key = await context.api().call<HeldKey>('GET', `/api-keys/${encodeURIComponent(id)}`);
      context.output().result(key, () => show(key));
    });
}

/** SHA-256 of the key on standard input. */
async function digestOfInput(): Promise<string> {
  const key = (await text(process.stdin)).trim();
  if (/^[!-~]+$/.test(key)) return createHash('sha256').update(key).digest('hex');
  throw new Failure(exitCode.usage, 'Standard input must hold one API key and nothing else.');
}

function show(key: HeldKey): string {
  const { account, parent } = key;
  return fields([
    ['id', key.id],
    ['name', key.name],
    ['key', hintsOf(key)],
    ['status', status(key.status)],
    ['scopes', key.scopes.join(' ') || '(none)'],
    [
      parent === null ? 'account' : 'sub-account',
      `${account.id}  ${account.name} (${status(account.status)})`,
    ],
    ...(account.external_id === null ? [] : [['external id', account.external_id] as const]),
    ...(parent === null
      ? []
      : [['parent', `${parent.id}  ${parent.name} (${status(parent.status)})`] as const]),
    ['created', key.created_at],
    ['last used', key.last_used_at ?? 'never'],
    ['expires', key.expires_at ?? 'never'],
    ['limits', showLimits(key.limits)],
    ...(key.revoked_at === null ? [] : [['revoked', key.revoked_at] as const]),
    ...(key.rotated_from === null ? [] : [['in place of', key.rotated_from] as const]),
  ]);
}

function list(page: Listing<HeldKey>): string {
  if (page.data.length === 0) return 'There is no such key.';
  const rows = page.data.map((key) => [
    key.id,
    key.name,
    hintsOf(key),
    status(key.status),
    key.account.name,
    key.parent?.name ?? '–',
    key.last_used_at ?? 'never',
  ]);
  return table(['ID', 'NAME', 'KEY', 'STATUS', 'ACCOUNT', 'PARENT', 'LAST USED'], rows) + moreNote(page);
}

/** Which keys a list shows. */
export function statusOption(): Option {
  return new Option('--status <status>', 'only those with this status').choices([
    'active',
    'expired',
    'revoked',
  ]);
}

/** What a key is recognised by. Of an imported one either part may not be known. */
export function hintsOf({ prefix, last4 }: Pick<ApiKey, 'prefix' | 'last4'>): string {
  return `${prefix ?? ''}…${last4 ?? ''}`;
}
