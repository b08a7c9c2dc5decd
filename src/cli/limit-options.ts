import { InvalidArgumentError, type Command } from 'commander';
import { limitsToMembers, type Limits } from '../domain/limits/limits.ts';
import { orNull, readNumber } from './account-options.ts';
import type { Account, LimitsInForce, Plan } from '../generated/operator-types.ts';
import { styled, table } from './output.ts';

type Given = number | 'unlimited' | false;

/** Command options that set limits. An option is `false` if given in its `--no-…` form. */
export type LimitOptions = { readonly [Name in keyof Limits]?: Given };

/** A limit that options set: its option, its description, and the description of the `--no-…` form. */
type LimitOption = readonly [name: string, description: string, without: string];

const periods: readonly LimitOption[] = [
  ['requests-per-second', 'how many requests a second it may send', 'no limit'],
  ['burst', 'how many at once, after a pause', 'as many as in a second'],
  ['requests-per-minute', 'how many requests a minute', 'no limit'],
];
const quotas: readonly LimitOption[] = [
  ['requests-per-day', 'how many requests in a day (UTC)', 'no limit'],
  ['requests-per-month', 'how many requests in a calendar month (UTC)', 'no limit'],
  ['units-per-month', 'how many units (`usage.units_header`) in a calendar month (UTC)', 'no limit'],
];

/**
 * Adds the options that set limits.
 *
 * @param kind `key` leaves out the daily and monthly quotas, because keys have none; `parent` also takes `unlimited`,
 * which lifts a limit of the parent's plan
 */
export function limitOptions(command: Command, kind: 'parent' | 'sub-account' | 'key'): Command {
  for (const [name, description, without] of kind === 'key' ? periods : [...periods, ...quotas]) {
    const lifts = kind === 'parent' && name !== 'burst';
    command
      .option(
        `--${name} <number>`,
        lifts ? `${description}, or \`unlimited\`` : description,
        lifts ? readOwn : readNumber,
      )
      .option(`--no-${name}`, lifts ? 'that of its plan, or no limit' : without);
  }
  return command;
}

/** Adds the options that set the limits of a plan. */
export function planLimitOptions(command: Command): Command {
  for (const [name, description] of [...periods, ...quotas])
    command.option(`--${name} <number>`, description, readNumber);
  return command;
}

/** Reads a whole number or `unlimited`. @throws {InvalidArgumentError} */
export function readOwn(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  try {
    return readNumber(text);
  } catch {
    throw new InvalidArgumentError('It must be a whole number, or `unlimited`.');
  }
}

/** Turns the options into the member `limits` of a request body. Returns `{}` if no option is given. */
export function limitsMember(options: LimitOptions): object {
  const given = Object.entries(limitsToMembers(options)).map(([name, value]) => [name, orNull(value)]);
  return given.length === 0 ? {} : { limits: Object.fromEntries(given) as object };
}

/** Formats limits on one line. */
export function showLimits(limits: Account['limits'] | Plan['limits']): string {
  const words = {
    requests_per_second: 'a second',
    burst: 'at once',
    requests_per_minute: 'a minute',
    requests_per_day: 'a day',
    requests_per_month: 'a month',
    units_per_month: 'units a month',
  } as const satisfies Record<keyof typeof limits, string>;
  const parts = Object.entries(words).flatMap(([name, word]) => {
    const limit = limits[name as keyof typeof words];
    return limit === null ? [] : [`${limit} ${word}`];
  });
  return parts.join(', ') || '(none)';
}

/** Formats limits as a table with what is left of them. */
export function showInForce({ data }: LimitsInForce): string {
  if (data.length === 0) return 'There is no limit.';
  const rows = data.map(({ limited, per, unit, limit, used, left, resets_at: resetsAt }) => [
    ...[limited, unit, per, String(limit), String(used), left === 0 ? styled('red', '0') : String(left)],
    resetsAt,
  ]);
  return table(['LIMIT OF', 'COUNTS', 'PER', 'LIMIT', 'USED', 'LEFT', 'ALL AGAIN AT'], rows);
}
