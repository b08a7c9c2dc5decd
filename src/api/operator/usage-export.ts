import { Type } from 'typebox';
import { parseAccountId } from '../../domain/ids.ts';
import { ProblemError } from '../../domain/problem.ts';
import { parseInstant } from '../../domain/rfc3339.ts';
import type { UsageEvent } from '../../domain/usage-event.ts';
import { hourMs, usagePeriodMaxDays, usagePeriodMaxMs, type UsagePeriod } from '../../domain/usage.ts';
import { invalidField } from '../../http/invalid-request.ts';
import { PushFailed } from '../../ports/usage/receiver.ts';
import type { ReplayCursor } from '../../ports/usage/replay.ts';
import { closed, noQuery, nullableText, timestamp } from '../rest/typebox.ts';
import type { AdminDeps } from './deps.ts';
import type { OperatorApp } from './operator-token.ts';

const body = closed({
  from: Type.String(),
  to: Type.String(),
  dry_run: Type.Optional(Type.Boolean({ description: 'show the events without sending them' })),
  cursor: Type.Optional(Type.String()),
});

/** A usage event, as the receiver gets it. */
const event = Type.Unsafe<UsageEvent>({ type: 'object', additionalProperties: true });

const response = closed({
  from: timestamp,
  to: timestamp,
  sent: Type.Boolean(),
  data: Type.Array(event),
  /** Ids of events that the receiver rejected. */
  rejected: Type.Array(Type.String()),
  has_more: Type.Boolean(),
  next_cursor: nullableText(),
});

/**
 * `POST /usage/export`: exports the usage of past hours. If an hour is exported again, its events have the same ids as
 * before. Hours from before the export was set up can be exported, too. If `dry_run` is `true`, the events are returned
 * but not sent. Each call exports a few hundred events and returns a cursor for the next call.
 */
export function usageExportRoute(
  app: OperatorApp,
  { usage, usageReplay }: Pick<AdminDeps, 'usage' | 'usageReplay'>,
): void {
  app.post(
    '/usage/export',
    { schema: { body, querystring: noQuery, response: { 200: response } }, config: { role: 'admin' } },
    async ({ body: { from, to, dry_run: dryRun = false, cursor } }) => {
      if (usageReplay === null)
        throw new ProblemError({
          code: 'invalid_request',
          detail: 'Usage is not exported: the configuration has no `usage.export`.',
        });
      const period = { fromMs: readHour('from', from), toMs: readHour('to', to) };
      mustBeAPeriod(period, await usageReplay.closedUntil(), (await usage.kept()).hoursFromMs);
      const at = cursor === undefined ? null : readCursor(cursor);
      const { events, rejected, next } = await usageReplay.replay(period, at, !dryRun).catch(explain);
      return {
        from: new Date(period.fromMs).toISOString(),
        to: new Date(period.toMs).toISOString(),
        sent: !dryRun,
        data: [...events],
        rejected: rejected.map(({ id }) => id),
        has_more: next !== null,
        next_cursor: next && writeCursor(next),
      };
    },
  );
}

function readHour(name: string, text: string): number {
  const ms = parseInstant(text);
  if (ms === undefined || ms % hourMs !== 0)
    throw invalidField(`/${name}`, 'must be a date such as `2026-01-31`, or a time on the hour, UTC.');
  return ms;
}

/** Checks that a period can be exported. @throws ProblemError `invalid_request` if it cannot */
function mustBeAPeriod({ fromMs, toMs }: UsagePeriod, closedUntilMs: number, keptFromMs: number): void {
  if (toMs <= fromMs) throw invalidField('/to', 'must be later than `from`.');
  if (toMs - fromMs > usagePeriodMaxMs)
    throw invalidField('/from', `must be at most ${usagePeriodMaxDays} days before \`to\`.`);
  if (closedUntilMs === -Infinity)
    throw invalidField('/to', 'cannot be exported yet: the export begins within a minute.');
  if (toMs > closedUntilMs)
    throw invalidField(
      '/to',
      `is after ${new Date(closedUntilMs).toISOString()}. Later hours are not complete, or have just ended.`,
    );
  if (fromMs < keptFromMs)
    throw invalidField(
      '/from',
      `is before ${new Date(keptFromMs).toISOString()}. Earlier usage is kept by the day (usage.hourly_retention_days).`,
    );
}

function writeCursor(cursor: ReplayCursor): string {
  return 'corrections' in cursor ? `c${cursor.corrections}` : `h${cursor.hourMs}:${cursor.after ?? ''}`;
}

function readCursor(text: string): ReplayCursor {
  const [, hour, account = '', corrections] = /^(?:h(\d{1,15}):([0-9a-f-]*)|c(\d{1,15}))$/.exec(text) ?? [];
  if (corrections !== undefined) return { corrections: Number(corrections) };
  const after = account === '' ? null : parseAccountId(account);
  if (hour !== undefined && after !== undefined && Number(hour) % hourMs === 0)
    return { hourMs: Number(hour), after };
  throw invalidField('/cursor', 'is not `next_cursor` of the previous response.');
}

function explain(error: unknown): never {
  if (!(error instanceof PushFailed)) throw error;
  const detail = `The receiver did not accept the events of this call; repeat it to send them again: ${error.message}`;
  throw new ProblemError({ code: 'upstream_unreachable', detail }, { cause: error });
}
