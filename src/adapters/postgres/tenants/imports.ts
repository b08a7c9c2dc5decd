import { metadataMaxPairs } from '../../../domain/account.ts';
import type {
  ImportOptions,
  Imports,
  ImportedRow,
  KeyRowToImport,
  OfParent,
  ParentToImport,
} from '../../../ports/imports.ts';
import { committed, digestBytes, type ChangeCall, type Changes } from './changes.ts';

interface Results {
  readonly results: readonly ImportedRow[];
}

/** Imports many parents, sub-accounts or keys per call, with one statement. */
export function imports(changes: Changes): Imports {
  const run = async (call: ChangeCall, { claim = null, caller }: ImportOptions) => {
    const made = await changes.run<never, Results>(claim, call, caller);
    return committed(made, made.results);
  };
  const runAccounts = (rows: readonly AccountRow[], limit: number | null, options: ImportOptions) =>
    run(
      (sql, request) =>
        sql`account_import(
          ${request}, ${sql.json(rows)}, ${limit}, ${metadataMaxPairs}, ${options.isPlan ?? false}
        )`,
      options,
    );
  return {
    importParents: (rows, options = {}) => runAccounts(rows.map(accountRow), null, options),

    importSubAccounts: (rows, limit, options = {}) =>
      runAccounts(
        rows.map((row) => ({ ...accountRow(row), ...parentOf(row) })),
        limit,
        options,
      ),

    importKeyRows: (rows, limit, options = {}) =>
      run(
        (sql, request) =>
          sql`api_key_import_rows(${request}, ${sql.json(rows.map(keyRow))}, ${limit}, ${options.isPlan ?? false})`,
        options,
      ),
  };
}

type AccountRow = ReturnType<typeof accountRow>;

function accountRow({ id, idGiven, externalId, name, metadata, plan }: ParentToImport) {
  return {
    ...{ id, id_given: idGiven === true, external_id: externalId, name, metadata },
    ...(plan !== undefined && { plan }),
  };
}

function parentOf(row: OfParent) {
  return row.parent === undefined ? { parent_external_id: row.parentExternalId } : { parent: row.parent };
}

function keyRow(row: KeyRowToImport) {
  const { id, name, scopes, digest, prefix, last4, expiresAt, subExternalId, importedUnder } = row;
  return {
    ...parentOf(row),
    ...{ id, name, prefix, last4, sub_external_id: subExternalId, scopes: [...scopes] },
    digest: `\\x${digestBytes(digest).toString('hex')}`,
    expires_at: expiresAt?.toISOString() ?? null,
    imported_under: importedUnder,
  };
}
