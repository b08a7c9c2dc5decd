import { Type, type Static } from 'typebox';
import { metadataKeyMaxLength, metadataValueMaxLength, type Metadata } from '../../domain/account.ts';
import type { AccountId } from '../../domain/ids.ts';
import type { SubAccountFilter, TenantStore } from '../../ports/tenant-store.ts';
import { pageOf, pageQuery, readPage, writePage, type ListName } from '../rest/paging.ts';
import { closed } from '../rest/typebox.ts';
import { externalId, nameStart, statuses, subAccountBody, subAccountToBody } from './resource.ts';

/** Filter: the list contains only accounts that have used at least this fraction of a quota, from 0 to 1. */
export const near = Type.Optional(Type.Number({ minimum: 0, maximum: 1 }));

/** Query parameters for a list of sub-accounts. To filter by metadata, send one `metadata[name]=value` per pair. */
export const listQuery = closed(
  {
    ...pageQuery(),
    status: Type.Optional(Type.Enum([...statuses])),
    external_id: Type.Optional(Type.String(externalId)),
    q: Type.Optional(nameStart),
    near,
  },
  {
    patternProperties: {
      [`^metadata\\[[\\s\\S]{1,${metadataKeyMaxLength}}\\]$`]: {
        type: 'string',
        maxLength: metadataValueMaxLength,
      },
    },
  },
);

/** Response body for a page of sub-accounts. */
export const listBody = closed(pageOf(subAccountBody));

/** Lists one page of a parent's sub-accounts. */
export async function listSubAccounts(
  tenants: Pick<TenantStore, 'listSubAccounts'>,
  parent: AccountId,
  query: Static<typeof listQuery>,
): Promise<Static<typeof listBody>> {
  const filter = filterOf(query);
  const list = listName(parent, filter);
  const asked = readPage(query, list);
  const page = await tenants.listSubAccounts(parent, filter, asked);
  return writePage(page, list, ({ id }) => id, subAccountToBody);
}

function filterOf(query: Static<typeof listQuery>): SubAccountFilter {
  const { status, external_id: externalId, q: nameStart, near } = query;
  const metadata = metadataOf(query);
  return {
    ...(status && { status }),
    ...(externalId && { externalId }),
    ...(nameStart && { nameStart }),
    ...(metadata && { metadata }),
    ...(near !== undefined && { near }),
  };
}

function metadataOf(query: object): Metadata | undefined {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    name.startsWith('metadata[') ? [[name.slice('metadata['.length, -1), String(value)] as const] : [],
  );
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

/** Returns the name of a list, which contains its filters. */
function listName(parent: AccountId, filter: SubAccountFilter): ListName {
  const { status, externalId, nameStart, metadata = {}, near } = filter;
  const pairs = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    'sub-accounts',
    parent,
    status,
    externalId,
    nameStart,
    near === undefined ? undefined : `near ${near}`,
    ...pairs.flat(),
  ];
}
