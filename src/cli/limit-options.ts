import { styleText } from 'node:util';
import type { Command } from 'commander';
import { orNull, readNumber } from './account-options.ts';
import type { Account, LimitsInForce } from './operator-types.ts';
import { table } from './output.ts';

/** Command options that set `Account['limits']`. An option is `false` if given in its `--no-…` form. */
export interface LimitOptions {
  readonly requestsPerSecond?: number | false;
  readonly burst?: number | false;
  readonly requestsPerMinute?: number | false;
  readonly requestsPerDay?: number | false;
  readonly requestsPerMonth?: number | false;
}

/**
 * Adds the options that set limits.
 *
 * @param kind `key` leaves out the daily and monthly quotas, because keys have none
 */
export function limitOptions(command: Command, kind: 'account' | 'key'): Command {
  command
    .option('--requests-per-second <number>', 'how many requests a second it may send', readNumber)
    .option('--no-requests-per-second', 'no limit')
    .option('--burst <number>', 'how many at once, after a pause', readNumber)
    .option('--no-burst', 'as many as in a second')
    .option('--requests-per-minute <number>', 'how many requests a minute', readNumber)
    .option('--no-requests-per-minute', 'no limit');
  if (kind === 'key') return command;
  return command
    .option('--requests-per-day <number>', 'how many requests in a day (UTC)', readNumber)
    .option('--no-requests-per-day', 'no limit')
    .option('--requests-per-month <number>', 'how many requests in a calendar month (UTC)', readNumber)
    .option('--no-requests-per-month', 'no limit');
}

/** Turns the options into the member `limits` of a request body. Returns `{}` if no option is given. */
export function limitsMember(options: LimitOptions): object {
  const { requestsPerSecond, burst, requestsPerMinute, requestsPerDay, requestsPerMonth } = options;
  const limits = {
    ...(requestsPerSecond !== undefined && { requests_per_second: orNull(requestsPerSecond) }),
    ...(burst !== undefined && { burst: orNull(burst) }),
    ...(requestsPerMinute !== undefined && { requests_per_minute: orNull(requestsPerMinute) }),
    ...(requestsPerDay !== undefined && { requests_per_day: orNull(requestsPerDay) }),
    ...(requestsPerMonth !== undefined && { requests_per_month: orNull(requestsPerMonth) }),
  };
  return Object.keys(limits).length === 0 ? {} : { limits };
}

/** Formats limits on one line. */
export function showLimits(limits: Account['limits']): string {
  const { requests_per_second: second, burst, requests_per_minute: minute } = limits;
  const { requests_per_day: day, requests_per_month: month } = limits;
  const parts = [
    ...(second === null ? [] : [`${second} a second`]),
    ...(burst === null ? [] : [`${burst} at once`]),
    ...(minute === null ? [] : [`${minute} a minute`]),
    ...(day === null ? [] : [`${day} a day`]),
    ...(month === null ? [] : [`${month} a month`]),
  ];
  return parts.join(', ') || '(none)';
}

/** Formats limits as a table with what is left of them. */
export function showInForce({ data }: LimitsInForce): string {
  if (data.length === 0) return 'There is no limit.';
  const rows = data.map(({ limited, per, limit, used, left, resets_at: resetsAt }) => [
    ...[limited, per, String(limit), String(used), left === 0 ? styleText('red', '0') : String(left)],
    resetsAt,
  ]);
  return table(['LIMIT OF', 'PER', 'LIMIT', 'USED', 'LEFT', 'ALL AGAIN AT'], rows);
}
