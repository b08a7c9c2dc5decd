import type { Command } from 'commander';
import { orNull, readNumber } from './account-options.ts';
import type { Account } from './operator-types.ts';

/** Account['limits'] in the options of a command; `false` comes from `--no-…`. */
export interface LimitOptions {
  readonly requestsPerSecond?: number | false;
  readonly burst?: number | false;
  readonly requestsPerMonth?: number | false;
}

/** Adds the options that set limits. @param kind keys have no monthly limit */
export function limitOptions(command: Command, kind: 'account' | 'key'): Command {
  command
    .option('--requests-per-second <number>', 'how many requests a second it may send', readNumber)
    .option('--no-requests-per-second', 'no limit')
    .option('--burst <number>', 'how many at once, after a pause', readNumber)
    .option('--no-burst', 'as many as in a second');
  if (kind === 'key') return command;
  return command
    .option('--requests-per-month <number>', 'how many requests in a calendar month (UTC)', readNumber)
    .option('--no-requests-per-month', 'no limit');
}

/** Member `limits` of a body, from the options; absent if no option is given. */
export function limitsMember({ requestsPerSecond, burst, requestsPerMonth }: LimitOptions): object {
  const limits = {
    ...(requestsPerSecond !== undefined && { requests_per_second: orNull(requestsPerSecond) }),
    ...(burst !== undefined && { burst: orNull(burst) }),
    ...(requestsPerMonth !== undefined && { requests_per_month: orNull(requestsPerMonth) }),
  };
  return Object.keys(limits).length === 0 ? {} : { limits };
}

/** Text of limits on one line. */
export function showLimits(limits: Account['limits']): string {
  const { requests_per_second: second, burst, requests_per_month: month } = limits;
  const parts = [
    ...(second === null ? [] : [`${second} a second`]),
    ...(burst === null ? [] : [`${burst} at once`]),
    ...(month === null ? [] : [`${month} a month`]),
  ];
  return parts.join(', ') || '(none)';
}
