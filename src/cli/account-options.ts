import { InvalidArgumentError, Option, type Command } from 'commander';
import { exitCode, Failure } from './failure.ts';
import { printable } from './output.ts';

/** Options for creating or changing an account. */
export interface AccountOptions {
  readonly externalId?: string;
  readonly metadata?: Readonly<Record<string, string | null>>;
}

/** Options for filtering a list of accounts. */
export interface FilterOptions {
  readonly status?: string;
  readonly externalId?: string;
  readonly nameStart?: string;
  readonly nearQuota?: true;
}

/** Adds the options for creating an account. */
export function createOptions(command: Command): Command {
  return command
    .option('--id <uuid>', 'its id in your own service (otherwise the gateway chooses one)')
    .option('--external-id <id>', 'your own name for it, which upstreams get, too')
    .option('--metadata <key=value...>', 'pairs to keep with it', addPair);
}

/**
 * Adds the options for filtering a list of accounts.
 *
 * @param statuses values that `--status` accepts
 */
export function filterOptions(command: Command, statuses: readonly string[]): Command {
  return command
    .addOption(new Option('--status <status>', 'only those with this status').choices(statuses))
    .option('--external-id <id>', 'only the one with this external_id')
    .option(
      '--near-quota',
      'only those that have used nine tenths of a quota by the day or month; for parents also a sub-account of theirs',
    )
    .option('--name-start <text>', 'only those whose name begins with this, in upper or lower case');
}

/** Turns the options of {@link filterOptions} into query parameters. */
export function filterQuery({
  status,
  externalId,
  nameStart,
  nearQuota,
}: FilterOptions): Record<string, string | undefined> {
  return { status, external_id: externalId, q: nameStart, near: nearQuota && '0.9' };
}

/**
 * Adds a `key=value` pair to `pairs`. The value may be empty. A name without `=` gets the value `null`, which removes
 * the pair.
 *
 * @throws {InvalidArgumentError} if the name is empty
 */
export function addPair(
  text: string,
  pairs: Readonly<Record<string, string | null>> = {},
): Record<string, string | null> {
  const [key, value] = text.includes('=')
    ? [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]
    : [text, null];
  if (key === '') throw new InvalidArgumentError('It must be key=value.');
  return { ...pairs, [key]: value };
}

/** Reads a whole number of at most 15 digits. @throws {InvalidArgumentError} */
export function readNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Returns the value to send for a member that can be cleared. `false`, given as `--no-…`, becomes `null`. */
export function orNull<Value>(given: Value | false): Value | null {
  return given === false ? null : given;
}

/** Returns `body` unchanged. @throws {Failure} if it is empty, because then there is nothing to change */
export function nonEmpty<Body extends object>(body: Body): Body {
  if (Object.keys(body).length > 0) return body;
  throw new Failure(exitCode.usage, 'There is nothing to change: name an option (--help shows them).');
}

/** Turns the options into members of a request body. */
export function accountBody({ externalId, metadata }: AccountOptions): object {
  return {
    ...(externalId !== undefined && { external_id: externalId }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** Formats metadata on one line. */
export function showMetadata(metadata: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(metadata).map(([key, value]) => printable(`${key}=${value}`));
  return pairs.join(' ') || '(none)';
}
