import { Type, type Static } from 'typebox';
import { parseAccountId, type AccountId } from '../../domain/ids.ts';
import type { FieldFault, Problem } from '../../domain/problem.ts';
import { invalidRequest } from '../../http/invalid-request.ts';
import type { KeyToImport } from '../../ports/api-keys.ts';
import { mostImported } from '../rest/import-size.ts';
import { closed, nullableText } from '../rest/typebox.ts';
import {
  importedKeyFields,
  keyFaults,
  keysIn,
  readKey,
  repeatedKeyFaults,
  type KeyRules,
} from './imported-key.ts';

const importedKey = closed({ ...importedKeyFields, sub_account_id: Type.Optional(nullableText()) });

/** Body of a request that imports API keys. */
export const importBody = closed({
  keys: Type.Array(importedKey, { minItems: 1, maxItems: mostImported }),
});

/** Rules for reading an import into one parent account. */
export interface ImportRules extends KeyRules {
  /** Account named in the path; `undefined` if its id is malformed. */
  readonly parent: AccountId | undefined;
  readonly newId: () => KeyToImport['id'];
}

type Sent = Static<typeof importedKey>;

/**
 * Reads an import. Returns the keys, or a single problem that lists every fault of every key.
 *
 * @param body body as the client sent it
 * @param schemaFaults faults that the schema has already reported
 */
export function readImport(
  body: unknown,
  schemaFaults: readonly FieldFault[],
  rules: ImportRules,
): { readonly keys: readonly KeyToImport[] } | { readonly problem: Problem } {
  const list = keysIn(body);
  const { ungrantable, others: found } = keyFaults(list, 'sub_account_id', rules);
  const others = [...schemaFaults, ...found, ...repeatedKeyFaults(list, rules), ...ownerFaults(list)];
  const faults = [...others, ...ungrantable].sort((a, b) => indexOf(a) - indexOf(b));
  if (faults.length > 0) {
    const problem = invalidRequest(faults, mostImported);
    return { problem: others.length > 0 ? problem : { ...problem, code: 'scope_not_grantable' } };
  }
  return { keys: (list as readonly Sent[]).map((key) => toImport(key, rules)) };
}

/** Returns the index in `keys` of the key that a fault is about; -1 if the fault is about the body as a whole. */
function indexOf({ pointer }: FieldFault): number {
  return Number(pointer.split('/')[2] ?? -1);
}

function ownerFaults(list: readonly unknown[]): FieldFault[] {
  return list.flatMap((key, index) => {
    const owner = (key as { readonly sub_account_id?: unknown } | null | undefined)?.sub_account_id;
    return typeof owner === 'string' && parseAccountId(owner) === undefined
      ? [{ pointer: `/keys/${index}/sub_account_id`, detail: noSubAccount }]
      : [];
  });
}

/**
 * Fault reported if the parent in the path has no sub-account with the id in `sub_account_id`. The text does not reveal
 * whether another parent has one.
 */
export const noSubAccount = 'is no sub-account of this account.';

/** Converts a key from the request to input for the store. The key must be free of faults. */
function toImport(key: Sent, rules: ImportRules): KeyToImport {
  const { sub_account_id: sub } = key;
  const owner = (typeof sub === 'string' ? parseAccountId(sub) : rules.parent) as AccountId;
  return { id: rules.newId(), owner, ...readKey(key, rules) };
}
