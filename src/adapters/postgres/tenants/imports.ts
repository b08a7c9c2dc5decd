import { metadataMaxPairs } from '../../../domain/account.ts';
import type {
  Imports,
  ImportedRow,
  KeyRowToImport,
  OfParent,
  ParentToImport,
} from '../../../ports/imports.ts';
import { committed, digestBytes, type Changes } from './changes.ts';

interface Results {
  readonly results: readonly ImportedRow[];
}

/** Imports many parents, sub-accounts or keys per call, with one statement. */
export function imports(changes: Changes): Imports {
  return {
    async importParents(rows, { isPlan = false, claim = null, caller } = {}) {
      const made = await changes.run<never, Results>(
        claim,
        (sql, request) =>
          sql`account_import(${request}, ${sql.json(rows.map(accountRow))}, ${metadataMaxPairs}, ${isPlan})`,
        caller,
      );
      return committed(made, made.results);
    },

    async importSubAccounts(rows, limit, { isPlan = false, claim = null, caller } = {}) {
      const list = rows.map((row) => ({ ...accountRow(row), ...parentOf(row) }));
      const made = await changes.run<never, Results>(
        claim,
        (sql, request) =>
          sql`account_import_subs(${request}, ${sql.json(list)}, ${limit}, ${metadataMaxPairs}, ${isPlan})`,
        caller,
      );
      return committed(made, made.results);
    },

    async importKeyRows(rows, limit, { isPlan = false, claim = null, caller } = {}) {
      const made = await changes.run<never, Results>(
        claim,
        (sql, request) =>
          sql`api_key_import_rows(${request}, ${sql.json(rows.map(keyRow))}, ${limit}, ${isPlan})`,
        caller,
      );
      return committed(made, made.results);
    },
  };
}

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
