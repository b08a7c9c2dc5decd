import { Type } from 'typebox';
import { apiKeyReader } from '../../../domain/api-key.ts';
import { uuidV7 } from '../../../domain/ids.ts';
import { ProblemError, type FieldFault, type ProblemCode } from '../../../domain/problem.ts';
import { fieldFaults } from '../../../http/field-faults.ts';
import { invalidRequest } from '../../../http/invalid-request.ts';
import type { ImportedRow, ImportOptions, LeftOut } from '../../../ports/imports.ts';
import { operatorCaller } from '../../../ports/changes.ts';
import type { Committed } from '../../../ports/tenant-store.ts';
import { enforced, idempotencyClaim, noteReplay, tooManyPairs } from '../../rest/changes.ts';
import { importBodyLimit, mostImported, mostItems } from '../../rest/import-size.ts';
import { closed, noQuery, nullableText } from '../../rest/typebox.ts';
import type { AdminDeps } from '../deps.ts';
import { operatorOf, type OperatorApp } from '../operator-token.ts';
import { accountRows, keyRows, repeats, subAccountRows, type RowKind } from './requests.ts';

const importedBody = closed({
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  rejected: Type.Integer(),
  data: Type.Array(
    closed({
      outcome: Type.Enum(['created', 'updated', 'unchanged', 'rejected']),
      id: nullableText(),
      code: nullableText(),
      detail: nullableText(),
    }),
  ),
});

/**
 * `POST /accounts/import`, `/sub-accounts/import` and `/api-keys/import`: import up to 1,000 rows per call. The rows
 * may be about different parents. Each row succeeds or fails on its own. If `plan` is `true`, the response shows what
 * would happen to each row, and nothing is changed.
 */
export function importRoutes(app: OperatorApp, deps: AdminDeps): void {
  const { tenants, config } = deps;
  const { keysPerAccount, subAccountsPerParent } = config.limits;
  importRows(app, deps, '/accounts/import', accountRows, (rows, options) =>
    tenants.importParents(rows, options),
  );
  importRows(app, deps, '/sub-accounts/import', subAccountRows, (rows, options) =>
    tenants.importSubAccounts(rows, subAccountsPerParent, options),
  );
  importRows(app, deps, '/api-keys/import', keyRows, (rows, options) =>
    tenants.importKeyRows(rows, keysPerAccount, options),
  );
}

function importRows<Read>(
  app: OperatorApp,
  { barrier, clock, randomBytes, config }: AdminDeps,
  path: string,
  kind: RowKind<string, Read>,
  run: (rows: readonly Read[], options: ImportOptions) => Promise<Committed<readonly ImportedRow[]>>,
): void {
  const readApiKey = apiKeyReader(config.keys.prefix);

  app.post(
    path,
    {
      schema: { querystring: noQuery, body: kind.body, response: { 200: importedBody } },
      bodyLimit: importBodyLimit,
      config: { role: 'admin', mostItems },
      // The handler runs even if the schema reports faults, so that one response lists the faults that both have found.
      attachValidation: true,
    },
    async (request, reply) => {
      const claim = idempotencyClaim(request, operatorCaller);
      const { validationError: invalid } = request;
      if (invalid !== undefined && invalid.validationContext !== 'body') throw invalid;
      const body = request.body as Readonly<Record<string, unknown>> | null | undefined;
      const list = body?.[kind.member];
      const rows = Array.isArray(list) ? (list as readonly unknown[]) : [];
      const nowMs = clock.wallMs();
      const rules = {
        readApiKey,
        keyPrefix: config.keys.prefix,
        nowMs,
        newId: () => uuidV7(nowMs, randomBytes(10)),
      };
      const faults = [
        ...fieldFaults((invalid?.validation ?? []) as readonly object[], 'body'),
        ...kind.faults(rows.slice(0, mostImported), rules),
        ...repeats(kind, rows, rules),
      ];
      if (faults.length > 0) throw new ProblemError(invalidRequest(faults.sort(byRow), mostImported));

      const isPlan = body?.['plan'] === true;
      const read = rows.map((row) => kind.read(row, rules));
      const outcome = await run(read, { isPlan, claim: isPlan ? null : claim, caller: operatorOf(request) });
      noteReplay(reply, outcome);
      return toBody(await enforced(outcome, barrier, reply, config.headers.enforced));
    },
  );
}

function byRow(a: FieldFault, b: FieldFault): number {
  const rowOf = ({ pointer }: FieldFault): number => Number(pointer.split('/')[2] ?? -1);
  return rowOf(a) - rowOf(b) || (a.pointer < b.pointer ? -1 : 1);
}

function toBody(rows: readonly ImportedRow[]) {
  const data = rows.map(toRow);
  const count = (outcome: string): number => data.filter((row) => row.outcome === outcome).length;
  return {
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    rejected: count('rejected'),
    data,
  };
}

function toRow({ outcome, id = null, otherScopes }: ImportedRow) {
  switch (outcome) {
    case 'created':
    case 'updated':
    case 'unchanged':
      return { outcome, id, code: null, detail: otherScopes === undefined ? null : keptScopes };
    default: {
      const [code, detail] = leftOut[outcome];
      return { outcome: 'rejected' as const, id, code, detail };
    }
  }
}

const keptScopes = 'The key exists with other scopes, and keeps them.';

const leftOut: Readonly<Record<LeftOut, readonly [ProblemCode, string]>> = {
  'no-account': ['not_found', 'There is no such account.'],
  'no-sub-account': ['not_found', 'The account has no such sub-account.'],
  'external-id-taken': ['external_id_taken', 'An account with another id has this external_id.'],
  'no-plan': ['invalid_request', 'There is no such plan.'],
  'id-taken': ['id_taken', 'Another account has this id.'],
  'too-many-pairs': ['invalid_request', `Its metadata ${tooManyPairs}`],
  limit: ['limit_reached', 'It would exceed the limit of its account.'],
  'key-taken': ['api_key_taken', 'The key belongs to another account.'],
};
