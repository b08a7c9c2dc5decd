import { Type, type Static, type TSchema } from 'typebox';
import type { ReadApiKey } from '../../../domain/api-key.ts';
import { parseAccountId, parseGivenId, type AccountId } from '../../../domain/ids.ts';
import type { FieldFault } from '../../../domain/problem.ts';
import type { KeyRowToImport, OfParent, ParentToImport, SubAccountToImport } from '../../../ports/imports.ts';
import { importedKeyFields, keyDigestOf, keyFaults, readKey } from '../../api-keys/imported-key.ts';
import { mostImported } from '../../rest/import-size.ts';
import { closed, nullableText } from '../../rest/typebox.ts';
import { changeable, creatable, externalId } from '../../sub-accounts/resource.ts';
import { planName } from '../account-body.ts';
import { givenId } from '../../rest/given-id.ts';

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
const account = closed({ ...accountFields, plan: Type.Optional(planName) });
const subAccount = closed({ ...ofParent, ...accountFields });
const key = closed({
  ...ofParent,
  sub_account_external_id: Type.Optional(nullableText(externalId)),
  ...importedKeyFields,
});
type Account = Static<typeof account>;
type SubAccount = Static<typeof subAccount>;
type Key = Static<typeof key>;

/** Key parser, key prefix, current time and id generator, used to check and read rows. */
export interface RowRules {
  readonly readApiKey: ReadApiKey;
  readonly keyPrefix: string;
  /** Current time, milliseconds since 1970. */
  readonly nowMs: number;
  /** Returns a new UUID. */
  readonly newId: () => string;
}

/** A value that must be unique within an import, and the name of the member that contains the value. */
export type Claim = readonly [member: string, text: string];

/** Describes how an import reads one kind of row. */
export interface RowKind<Name extends string, Read> {
  /** Body member that contains the rows, such as `accounts`. */
  readonly member: Name;
  readonly body: TSchema;
  /** Names of the members that a row can have. */
  readonly columns: readonly string[];
  /** Checks rows for faults that the schema does not report. `rows` may include rows that the schema rejected. */
  readonly faults: (rows: readonly unknown[], rules: RowRules) => readonly FieldFault[];
  /** Returns a row's values that must be unique within the import. The row may have faults. */
  readonly claims: (row: unknown, rules: RowRules) => readonly Claim[];
  /** Converts a row to input for the store. The row must be free of faults. */
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

/** Describes how `POST …/accounts/import` reads rows. Each row is a parent. */
export const accountRows = rowKind<'accounts', ParentToImport>('accounts', account, {
  faults: (rows) => rows.flatMap((row, index) => idFaults(row, `/accounts/${index}`)),
  claims: (row) => accountClaims(row, ''),
  read: (row, rules) => readAccount(row as Account, rules),
});

/** Describes how `POST …/sub-accounts/import` reads rows. Each row is a sub-account and names its parent. */
export const subAccountRows = rowKind<'sub_accounts', SubAccountToImport>('sub_accounts', subAccount, {
  faults: (rows) =>
    rows.flatMap((row, index) => {
      const at = `/sub_accounts/${index}`;
      return [...idFaults(row, at), ...parentFaults(row, at)];
    }),
  claims: (row) => accountClaims(row, parentText(row)),
  read: (row, rules) => ({ ...readAccount(row as SubAccount, rules), ...readParent(row as SubAccount) }),
});

/**
 * Describes how the command `sync` reads rows. Each row is a sub-account of the parent whose key `sync` uses. `sync`
 * sends a PUT for each row that changes something.
 */
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

/**
 * Matches a path segment that consists only of dots. Clients and proxies resolve or remove such segments, so an
 * `external_id` that contains one cannot be sent in a path.
 */
const dotSegment = /(?:^|[\\/])\.+(?:[\\/]|$)/;
const asDots = 'has a segment of only dots, which no path can hold: create this sub-account by POST.';

/** Describes how `POST …/api-keys/import` reads rows. Each row is a key and names its account. */
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
      {
        pointer: `${at}/account_id`,
        detail: 'is sent together with `account_external_id`: send only one of them.',
      },
    ];
  return typeof id === 'string' && parseAccountId(id) === undefined
    ? [{ pointer: `${at}/account_id`, detail: 'must be a UUID.' }]
    : [];
}

/** Returns a string that identifies a row's parent. */
function parentText(row: unknown): string {
  const { account_id: id, account_external_id: name } = record(row);
  return typeof id === 'string' ? `id ${id.toLowerCase()}` : `ext ${String(name)}`;
}

/**
 * Returns the values of an account that must be unique within the import. An `external_id` must be unique only among
 * the accounts of one parent.
 *
 * @param parent text that identifies the parent
 */
function accountClaims(row: unknown, parent: string): readonly Claim[] {
  const { external_id: name, id } = record(row);
  const claims: Claim[] = [];
  if (typeof name === 'string') claims.push(['external_id', `${parent} ${name}`]);
  if (typeof id === 'string') claims.push(['id', `id ${id.toLowerCase()}`]);
  return claims;
}

/** Returns a fault for each value that must be unique but has already occurred in an earlier row. */
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
      const detail = `is the same as in \`/${member}/${before}\`.`;
      return before === undefined ? [] : [{ pointer: `/${member}/${index}/${name}`, detail }];
    }),
  );
}

function readAccount(
  { id, external_id, name, metadata = {}, plan }: Account,
  { newId }: RowRules,
): ParentToImport {
  const given = id === undefined ? undefined : parseGivenId(id);
  return {
    id: given ?? (newId() as AccountId),
    ...(given && { idGiven: true }),
    externalId: external_id,
    name,
    metadata,
    ...(plan !== undefined && { plan }),
  };
}

function readParent({ account_id: id, account_external_id: name = '' }: SubAccount | Key): OfParent {
  return id === undefined ? { parentExternalId: name } : { parent: parseAccountId(id) as AccountId };
}
