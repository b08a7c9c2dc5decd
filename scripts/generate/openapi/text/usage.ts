import type { Subject } from '../types.ts';
import { account, subAccount, lastPage } from './world.ts';

const everyone = 'Covers all parents, or one of them (`account_id`).';

const counted = {
  period_start: '2026-03-01T00:00:00.000Z',
  requests: 1200,
  reads: 1000,
  writes: 200,
  client_errors: 12,
  server_errors: 0,
  bytes_in: 48000,
  bytes_out: 960000,
  units: 0,
};
const report = {
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-02T00:00:00.000Z',
  granularity: 'total',
  group_by: 'sub_account',
  complete_through: '2026-03-02T00:00:00.000Z',
  incomplete: false,
};
const row = { sub_account_id: subAccount, external_id: 'ada', name: 'Ada Logistics' };

/** Reports of usage, and its events for the billing system. */
export const usage: Subject = {
  parents: {
    operations: {
      'GET /v1/sub-accounts/usage': {
        id: 'getUsage',
        tag: 'Usage',
        summary: 'Report usage',
        description:
          'Requests to the API behind the gateway, by the account that each operated on; the parent has rows of its own. With `Accept: text/csv` the report has all rows of the period as CSV: `from` and `to` on the hour, `limit` and `cursor` only for JSON.',
        responses: { 200: ['UsageReport', 'A page of the report, or all of it as CSV.'] },
        problems: ['not_found'],
        headers: ['VaryAccept', 'CsvName'],
        csv: true,
      },
    },
    examples: {
      UsageReport: { ...report, data: [{ ...row, ...counted }], ...lastPage },
    },
  },
  operators: {
    operations: {
      'GET /admin/v1/usage': {
        id: 'getUsage',
        tag: 'Usage',
        summary: 'Report usage of all parents, or of one',
        description: `${everyone} The report that parents get, by parent, sub-account or key. With \`Accept: text/csv\` it has all rows of the period as CSV; \`limit\` and \`cursor\` are only for JSON.`,
        responses: { 200: ['UsageReport', 'A page of the report, or all of it as CSV.'] },
        problems: ['not_found'],
        headers: ['VaryAccept', 'CsvName'],
        csv: true,
      },
      'POST /admin/v1/usage/export': {
        id: 'exportUsage',
        tag: 'Usage',
        summary: 'Send hours of usage to the billing system again',
        description:
          'Events that are sent again have the same ids and counts as before; corrections follow after the hours. With `dry_run` the events are shown but not sent. A call sends a few hundred events; `next_cursor` is the place to continue. It gets 502 if the billing system does not accept the events.',
        request: 'ExportUsage',
        responses: { 200: ['ExportedUsage', 'The events that were sent.'] },
        problems: ['upstream_unreachable'],
        noIdempotency: true,
      },
      'POST /admin/v1/usage/forget': {
        id: 'forgetUsage',
        tag: 'Usage',
        summary: 'Let reports go on without a replica that is gone',
        description:
          'For a silent replica that `GET /admin/v1/replicas` lists in `silent`, if its journal is lost. Reports on the time in which its counts may lie then say `incomplete`. Counts that come after all are corrections.',
        request: 'ForgetUsage',
        responses: { 200: ['ForgottenUsage', 'Reports no longer wait for the replica.'] },
        problems: ['not_found'],
        noIdempotency: true,
      },
    },
    examples: {
      UsageReport: {
        ...report,
        silent: [],
        data: [{ account_id: account, ...row, ...counted }],
        ...lastPage,
      },
      ExportUsage: { from: '2026-03-01', to: '2026-03-02', dry_run: true },
      ExportedUsage: { from: report.from, to: report.to, sent: false, data: [], rejected: [], ...lastPage },
      ForgetUsage: { replica: 'tenancy-gateway-6c9f7d5b8-x2x9q' },
      ForgottenUsage: { replica: 'tenancy-gateway-6c9f7d5b8-x2x9q', forgotten: 1 },
    },
  },
  schemas: {
    ExportUsage: 'The hours to send.',
    ExportedUsage: 'Usage events as they are sent.',
    ForgetUsage: 'The replica whose counts reports go on without.',
    ForgottenUsage: 'The silent replicas that were forgotten.',
    UsageReport: 'A page of a usage report.',
    UsageRow: 'The counts of one account or key in one period.',
  },
  inner: {
    'UsageReport/properties/data/items': 'UsageRow',
  },
  members: {
    'ExportUsage.cursor': '`next_cursor` of the previous response.',
    'ExportUsage.from': 'The beginning of the first hour: an RFC 3339 date, or a date-time on the hour.',
    'ExportUsage.to': 'The end of the last hour: an RFC 3339 date, or a date-time on the hour.',
    'ExportedUsage.data': 'The events: CloudEvents 1.0 (docs/billing.md).',
    'ExportedUsage.rejected': 'Ids of events that the billing system rejected because of their content.',
    'UsageReport.silent': 'Silent replicas, by host or id, whose counts the report may lack.',
    'UsageRow.external_id':
      'The name that the service uses for the account; `null` if it has none or has been deleted.',
    'UsageRow.name': 'The name of the account; `null` if it has been deleted.',
    'UsageRow.sub_account_id': 'The account that the requests operated on; the parent has rows of its own.',
    'query.granularity': 'The length of the period of a row; `total` unless given.',
    'query.group_by': 'How rows are grouped; `sub_account` unless given.',
    bytes_in: 'Bytes of request bodies, to the upstream.',
    bytes_out: 'Bytes of response bodies, from the upstream.',
    units:
      'What the responses said that the requests were worth, such as tokens or rows (`usage.units_header`); at most 2^53 - 1.',
    client_errors: 'Responses with 4xx.',
    complete_through: 'The moment up to which the report is complete.',
    dry_run: 'Whether to show the events without sending them; `false` unless given.',
    forgotten: 'How many silent replicas have this name.',
    from: 'The start of the period, inclusive.',
    granularity: 'The length of the period of a row.',
    group_by: 'How rows are grouped.',
    incomplete:
      'Whether counts may be missing for good: of a lost replica, or because the database went back in time.',
    period_start: 'When the period of the row starts.',
    reads: 'Requests with GET, HEAD and OPTIONS.',
    replica: 'The host of the replica, or its id in `silent`.',
    requests: 'Requests that were handed to an upstream.',
    sent: 'Whether the events were sent.',
    server_errors: 'Responses with 5xx, and requests without a response.',
    to: 'The end of the period, exclusive.',
    writes: 'Requests with POST, PUT, PATCH and DELETE.',
  },
};
