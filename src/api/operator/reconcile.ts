import { Type } from 'typebox';
import { parseAccountId } from '../../domain/ids.ts';
import { ProblemError } from '../../domain/problem.ts';
import { parseInstant } from '../../domain/rfc3339.ts';
import { dayMs, usagePeriodMaxMs, type UsageCounts } from '../../domain/usage.ts';
import { invalidField } from '../../http/invalid-request.ts';
import { found } from '../../http/not-found.ts';
import type { UsageDifference } from '../../ports/usage.ts';
import { closed, noQuery, nullableText, timestamp, type TypedApp } from '../rest/typebox.ts';
import type { AdminDeps } from './deps.ts';

const body = closed({
  from: Type.String(),
  to: Type.String(),
  account_id: Type.Optional(Type.String({ description: 'a parent account' })),
  mend: Type.Optional(Type.Boolean()),
  cursor: Type.Optional(Type.String()),
});

const count = Type.Integer();
const counts = closed({
  requests: count,
  reads: count,
  writes: count,
  client_errors: count,
  server_errors: count,
  bytes_in: count,
  bytes_out: count,
});
const nullableCounts = Type.Union([counts, Type.Null()]);

const response = closed({
  from: timestamp,
  to: timestamp,
  /** Number of accounts that were compared. */
  accounts: count,
  mended: Type.Boolean(),
  data: Type.Array(
    closed({
      account_id: Type.String(),
      sub_account_id: Type.String(),
      api_key_id: Type.String(),
      day: Type.String(),
      by_hours: nullableCounts,
      by_days: nullableCounts,
    }),
  ),
  has_more: Type.Boolean(),
  next_cursor: nullableText(),
});

/**
 * `POST /usage/reconcile`: compares the days of usage, the basis of reports and invoices, with the sums of their hours; with
 * `mend` it corrects the days. A call compares as many accounts as it can in about a second and returns a cursor.
 */
export function reconcileRoute(
  app: TypedApp,
  { usage, tenants }: Pick<AdminDeps, 'usage' | 'tenants'>,
): void {
  app.post(
    '/usage/reconcile',
    { schema: { body, querystring: noQuery, response: { 200: response } } },
    async ({ body: { from, to, account_id, mend = false, cursor } }) => {
      const [firstMs, endMs] = [readDay('from', from), readDay('to', to)];
      if (endMs <= firstMs) throw invalidField('/to', 'must be later than `from`.');
      if (endMs - firstMs > usagePeriodMaxMs)
        throw invalidField('/from', 'must be at most 366 days before `to`.');
      const { hoursFromMs, daysFromMs } = await usage.kept();
      const keptFromMs = Math.max(hoursFromMs, daysFromMs);
      if (firstMs < keptFromMs)
        throw invalidField(
          '/from',
          `is before ${new Date(keptFromMs).toISOString()}: earlier usage is not there by the day and by the hour, so there is nothing to compare.`,
        );
      const parent = account_id === undefined ? null : found(parseAccountId(account_id), 'account');
      if (parent !== null) found(await tenants.getParent(parent), 'account');
      const after = cursor === undefined ? null : parseAccountId(cursor);
      if (after === undefined) throw invalidField('/cursor', 'is not `next_cursor` of the response before.');
      const compared = await usage.reconcile({ parent, firstMs, endMs, after, mend });
      if (compared === null)
        throw new ProblemError({
          code: 'unavailable',
          detail: 'Usage that an earlier version stored is still being added up by the day. Try again later.',
          retryAfter: 60,
        });
      return {
        from: new Date(firstMs).toISOString(),
        to: new Date(endMs).toISOString(),
        accounts: compared.accounts,
        mended: mend,
        data: compared.differences.map(differenceToBody),
        has_more: compared.next !== null,
        next_cursor: compared.next,
      };
    },
  );
}

function readDay(name: string, text: string): number {
  const ms = parseInstant(text);
  if (ms === undefined || ms % dayMs !== 0)
    throw invalidField(`/${name}`, 'must be a date such as `2026-01-31`, or a time at 00:00 UTC.');
  return ms;
}

function differenceToBody({ accountId, parentId, keyId, day, byHours, byDays }: UsageDifference) {
  return {
    account_id: parentId,
    sub_account_id: accountId,
    api_key_id: keyId,
    day,
    by_hours: byHours && countsToBody(byHours),
    by_days: byDays && countsToBody(byDays),
  };
}

function countsToBody(of: UsageCounts) {
  return {
    requests: of.requests,
    reads: of.reads,
    writes: of.writes,
    client_errors: of.clientErrors,
    server_errors: of.serverErrors,
    bytes_in: of.bytesIn,
    bytes_out: of.bytesOut,
  };
}
