import { Type, type Static } from 'typebox';
import type { AccountId } from '../../domain/ids.ts';
import { managementScopes } from '../../domain/scope.ts';
import type { UsageReportRow } from '../../ports/usage.ts';
import { closed, nullableText } from '../rest/typebox.ts';
import { callerOf, decideAgain } from '../guard.ts';
import type { ManagementDeps } from '../deps.ts';
import { sendCsv, wantsCsv } from './csv-report.ts';
import {
  countsToBody,
  readReport,
  reportFields,
  reportQuery,
  rowFields,
  type ReportQuery,
  type ReportSource,
} from './read-report.ts';
import type { ManagementApp } from '../operations.ts';

const groupBy = Type.Enum(['sub_account', 'api_key']);
const reportRow = closed({
  sub_account_id: Type.String(),
  external_id: nullableText(),
  name: nullableText(),
  api_key_id: Type.Optional(Type.String()),
  ...rowFields,
});
/** Columns of a CSV report, in order. `api_key_id` is dropped unless the report is grouped by key. */
const columns = Object.keys(reportRow.properties);

/** Schema of a parent's report, and the function that reads one page of it. */
export const usageReport = {
  schema: {
    querystring: closed({ ...reportQuery, group_by: Type.Optional(groupBy) }),
    response: { 200: closed(reportFields(groupBy, reportRow)) },
  },
  read: (source: ReportSource, parent: AccountId, query: ReportQuery<'sub_account' | 'api_key'>) =>
    readReport(source, { parent, asker: parent }, query, rowToBody),
} as const;

/**
 * `GET /v1/sub-accounts/usage` (spec section 4): reports the requests of the parent and its sub-accounts. Each request
 * counts towards the account that it acted as.
 */
export function usageReportRoute(app: ManagementApp, deps: ManagementDeps): void {
  app.get(
    '/usage',
    { schema: usageReport.schema, config: { scope: managementScopes.read } },
    (request, reply) => {
      const { accountId } = callerOf(request);
      if (!wantsCsv(request, reply)) return usageReport.read(deps, accountId, request.query);
      const scope = { parent: accountId, asker: accountId };
      return sendCsv({ request, reply }, deps, scope, request.query, {
        columns,
        rowToBody,
        mayGoOn: () => decideAgain(request),
      });
    },
  );
}

function rowToBody(row: UsageReportRow): Static<typeof reportRow> {
  return {
    sub_account_id: row.accountId,
    external_id: row.externalId,
    name: row.name,
    ...(row.keyId !== null && { api_key_id: row.keyId }),
    ...countsToBody(row),
  };
}
