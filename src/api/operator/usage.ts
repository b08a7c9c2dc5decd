import { Type, type Static } from 'typebox';
import { parseAccountId } from '../../domain/ids.ts';
import type { UsageGroup } from '../../domain/usage.ts';
import { found } from '../../http/not-found.ts';
import type { UsageReportRow } from '../../ports/usage.ts';
import { closed, nullableText } from '../rest/typebox.ts';
import { sendCsv, wantsCsv } from '../usage/csv-report.ts';
import { countsToBody, readReport, reportFields, reportQuery, rowFields } from '../usage/read-report.ts';
import type { AdminDeps } from './deps.ts';
import type { OperatorApp } from './operator-token.ts';

const groupBy = Type.Enum(['account', 'sub_account', 'api_key']);
const reportRow = closed({
  account_id: Type.String(),
  sub_account_id: nullableText(),
  external_id: nullableText(),
  name: nullableText(),
  api_key_id: Type.Optional(Type.String()),
  ...rowFields,
});
const columns = Object.keys(reportRow.properties);

/** `GET /usage`: reports the usage of one parent, or of all parents. */
export function operatorUsageRoute(app: OperatorApp, deps: AdminDeps): void {
  const querystring = closed({
    ...reportQuery,
    account_id: Type.Optional(Type.String({ description: 'a parent account' })),
    group_by: Type.Optional(groupBy),
  });
  const response = {
    200: closed({ ...reportFields(groupBy, reportRow), silent: Type.Array(Type.String()) }),
  };
  app.get(
    '/usage',
    { schema: { querystring, response }, config: { role: 'viewer' } },
    async (request, reply) => {
      const { account_id: text, ...query } = request.query;
      const parent = text === undefined ? null : found(parseAccountId(text), 'account');
      // The usage of a deleted account stays.
      if (parent !== null) found((await deps.usage.parentOf(parent)) === parent ? parent : null, 'account');
      const scope = { parent, asker: parent ?? 'all' };
      if (!wantsCsv(request, reply)) return readReport(deps, scope, query, rowToBody);
      return sendCsv({ request, reply }, deps, scope, query, { columns, rowToBody });
    },
  );
}

function rowToBody(row: UsageReportRow, group: UsageGroup): Static<typeof reportRow> {
  return {
    account_id: row.parentId,
    // A row that totals a parent and its sub-accounts names no sub-account.
    sub_account_id: group === 'account' ? null : row.accountId,
    external_id: row.externalId,
    name: row.name,
    ...(row.keyId !== null && { api_key_id: row.keyId }),
    ...countsToBody(row),
  };
}
