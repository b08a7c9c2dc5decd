import { Type, type Static, type TSchema } from 'typebox';
import type { ReadApiKey } from '../../../domain/api-key.ts';
import { parseAccountId, parseGivenId, type AccountId } from '../../../domain/ids.ts';
import type { FieldFault } from '../../../domain/problem.ts';
import type { KeyRowToImport, OfParent, ParentToImport, SubAccountToImport } from '../../../ports/imports.ts';
import {
  importedKeyFields,
  keyDigestOf,
  keyFaults,
  mostImported,
  readKey,
} from '../../api-keys/imported-key.ts';
import { closed, nullableText } from '../../rest/typebox.ts';
import { changeable, creatable, externalId } from '../../sub-accounts/resource.ts';
import { givenId } from '../given-id.ts';

const accountFields = {
  external_id: Type.String(externalId),
  id: givenId,
  name: creatable.name,
  metadata: changeable.metadata,
};
const ofParent = {
  account_external_id: Type.Optional(Type.String(externalId)),
  account_id: Type.Optional(Type.String({ maxLength: 36 })),
};
const account = closed(accountFields);
const subAccount = closed({ ...ofParent, ...accountFields });
const key = closed({
  ...ofParent,
  sub_account_external_id: Type.Optional(nullableText(externalId)),
  ...importedKeyFields,
});
type Account = Static<typeof account>;
type SubAccount = Static<typeof subAccount>;
type Key = Static<typeof key>;

/** What rows are read by. */
export interface RowRules {
  readonly readApiKey: ReadApiKey;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** A new UUID. */
  readonly newId: () => string;
}

/** What no two rows may share: the member that says it, and what it says. */
export type Claim = readonly [member: string, text: string];

/** One kind of rows that are imported many at a time. */
export interface RowKind<Name extends string, Read> {
  /** The member of the body that has the rows. */
  readonly member: Name;
  readonly body: TSchema;
  /** The members that a row may have. */
  readonly columns: readonly string[];
  /** What is wrong with rows, each by itself, beyond what the schema finds, whatever that has found. */
  readonly faults: (rows: readonly unknown[], rules: RowRules) => readonly FieldFault[];
  /** What no other row of a file may have, of a row that may have faults. */
  readonly claims: (row: unknown, rules: RowRules) => readonly Claim[];
  /** @param row without faults */
  readonly read: (row: unknown, rules: RowRules) => Read;
}

function rowKind<Name extends string, Read>(
  member: Name,
  row: TSchema & { readonly properties: object },
  more: Pick<RowKind<Name, Read>, 'faults' | 'claims' | 'read'>,
): RowKind<Name, Read> {
  const rows = Type.Array(row, { minItems: 1, maxItems: mostImported });
  const body = closed({ [member]: rows, plan: Type.Optional(Type.Boolean()) });
  return { ...more, member, body, columns: Object.keys(row.properties) };
}

/** Parents: `POST …/accounts/import`. */
export const accountRows = rowKind<'accounts', ParentToImport>('accounts', account, {
  faults: (rows) => rows.flatMap((row, index) => idFaults(row, `/accounts/${index}`)),
  claims: (row) => accountClaims(row, ''),
  read: (row, rules) => readAccount(row as Account, rules),
});

/** Sub-accounts of any parents: `POST …/sub-accounts/import`. */
export const subAccountRows = rowKind<'sub_accounts', SubAccountToImport>('sub_accounts', subAccount, {
  faults: (rows) =>
    rows.flatMap((row, index) => {
      const at = `/sub_accounts/${index}`;
      return [...idFaults(row, at), ...parentFaults(row, at)];
    }),
  claims: (row) => accountClaims(row, parentText(row)),
  read: (row, rules) => ({ ...readAccount(row as SubAccount, rules), ...readParent(row as SubAccount) }),
});

/** Sub-accounts of the one parent whose key is at hand, as the command line puts them. No call takes them together. */
export const ownSubAccountRows = rowKind<'sub_accounts', ParentToImport>(
  'sub_accounts',
  closed({ external_id: accountFields.external_id, name: creatable.name, metadata: changeable.metadata }),
  {
    faults: (rows) =>
      rows.flatMap((row, index) => {
        const { external_id: name } = record(row);
        const pointer = `/sub_accounts/${index}/external_id`;
        return typeof name === 'string' && dotSegment.test(name) ? [{ pointer, detail: asDots }] : [];
      }),
    claims: (row) => accountClaims(row, 'own'),
    read: (row, rules) => readAccount(row as Account, rules),
  },
);

/** What clients and proxies take out of a path, or go up by. */
const dotSegment = /(?:^|[\\/])\.+(?:[\\/]|$)/;
const asDots = 'has a part of dots alone, which cannot stand in a path: create this one by POST.';

/** Keys of any accounts: `POST …/api-keys/import`. */
export const keyRows = rowKind<'keys', KeyRowToImport>('keys', key, {
  faults: (rows, rules) => {
    const { ungrantable, others } = keyFaults(rows, 'sub_account_external_id', rules);
    return [...others, ...ungrantable, ...rows.flatMap((row, i) => parentFaults(row, `/keys/${i}`))];
  },
  claims: (row, { readApiKey }) => {
    const { api_key: text, sha256 } = record(row);
    const digest = keyDigestOf(text, sha256, readApiKey);
    return digest === undefined ? [] : [[text === undefined ? 'sha256' : 'api_key', digest]];
  },
  read: (row, rules) => {
    const sent = row as Key;
    return {
      id: rules.newId() as KeyRowToImport['id'],
      ...readParent(sent),
      subExternalId: sent.sub_account_external_id ?? null,
      ...readKey(sent, rules),
    };
  },
});

function record(row: unknown): Readonly<Record<string, unknown>> {
  return typeof row === 'object' && row !== null ? (row as Readonly<Record<string, unknown>>) : {};
}

function idFaults(row: unknown, at: string): readonly FieldFault[] {
  const { id } = record(row);
  if (typeof id !== 'string' || parseGivenId(id) !== undefined) return [];
  return [{ pointer: `${at}/id`, detail: 'must be a UUID, and neither the nil nor the max one.' }];
}

function parentFaults(row: unknown, at: string): readonly FieldFault[] {
  const { account_id: id, account_external_id: name } = record(row);
  if (id === undefined && name === undefined)
    return [{ pointer: at, detail: 'needs `account_external_id` or `account_id`.' }];
  if (id !== undefined && name !== undefined)
    return [
      { pointer: `${at}/account_id`, detail: 'stands beside `account_external_id`: send one of them.' },
    ];
  return typeof id === 'string' && parseAccountId(id) === undefined
    ? [{ pointer: `${at}/account_id`, detail: 'must be a UUID.' }]
    : [];
}

/** Stands for the parent that a row names. */
function parentText(row: unknown): string {
  const { account_id: id, account_external_id: name } = record(row);
  return typeof id === 'string' ? `id ${id.toLowerCase()}` : `ext ${String(name)}`;
}

/** @param parent below which an `external_id` is unique */
function accountClaims(row: unknown, parent: string): readonly Claim[] {
  const { external_id: name, id } = record(row);
  const claims: Claim[] = [];
  if (typeof name === 'string') claims.push(['external_id', `${parent} ${name}`]);
  if (typeof id === 'string') claims.push(['id', `id ${id.toLowerCase()}`]);
  return claims;
}

/** Rows of one call that are about the same. */
export function repeats(
  { member, claims }: Pick<RowKind<string, unknown>, 'member' | 'claims'>,
  rows: readonly unknown[],
  rules: RowRules,
): readonly FieldFault[] {
  const first = new Map<string, number>();
  return rows.slice(0, mostImported).flatMap((row, index) =>
    claims(row, rules).flatMap(([name, text]) => {
      const before = first.get(text);
      if (before === undefined) first.set(text, index);
      const detail = `is that of \`/${member}/${before}\`, too.`;
      return before === undefined ? [] : [{ pointer: `/${member}/${index}/${name}`, detail }];
    }),
  );
}

function readAccount({ id, external_id, name, metadata = {} }: Account, { newId }: RowRules): ParentToImport {
  const given = id === undefined ? undefined : parseGivenId(id);
  return {
    id: given ?? (newId() as AccountId),
    ...(given && { idGiven: true }),
    externalId: external_id,
    name,
    metadata,
  };
}

function readParent({ account_id: id, account_external_id: name = '' }: SubAccount | Key): OfParent {
  return id === undefined ? { parentExternalId: name } : { parent: parseAccountId(id) as AccountId };
}
