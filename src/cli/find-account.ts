import { parseAccountId } from '../domain/ids.ts';
import type { Context } from './context.ts';
import { exitCode, Failure, problemIn } from './failure.ts';
import type { GatewayApi, Listing } from './operator-api.ts';
import type { Account, SubAccount } from '../generated/operator-types.ts';

/** Ids of an account named on the command line. For a parent account, `subAccount` is `null`. */
export interface FoundAccount {
  readonly parent: string;
  readonly subAccount: string | null;
}

const externalPrefix = 'ext:';

/** Help text that says how to name an account on the command line. */
export const accountForms = 'an id, or ext:<external_id>';

/**
 * Finds a parent by its id or by `ext:<external_id>`. Finds a sub-account by its id only.
 *
 * @throws {Failure} if there is no such account
 */
export async function findAccount(context: Context, given: string): Promise<FoundAccount> {
  const api = context.api();
  if (given.startsWith(externalPrefix)) {
    const externalId = given.slice(externalPrefix.length);
    const account = await first<Account>(
      api,
      `/accounts?${new URLSearchParams({ external_id: externalId }).toString()}`,
    );
    if (account !== undefined) return { parent: account.id, subAccount: null };
    throw new Failure(exitCode.failed, `No account has the external_id ${externalId}.`, listHint);
  }
  const id = parseAccountId(given);
  if (id === undefined) throw new Failure(exitCode.failed, `There is no account ${given}.`, formHint);
  const parent = await api.call<Account>('GET', `/accounts/${id}`).catch(unlessNotFound);
  if (parent !== undefined) return { parent: parent.id, subAccount: null };
  const owner = await first<Account>(api, `/accounts?sub_account_id=${id}`);
  if (owner !== undefined) return { parent: owner.id, subAccount: id };
  throw new Failure(exitCode.failed, `There is no account or sub-account ${given}.`, listHint);
}

/**
 * Finds the id of a parent, for a command that works only on parents.
 *
 * @param instead advice to give if `given` names a sub-account
 * @throws {Failure} if there is no such account, or if it is a sub-account
 */
export async function findParent(context: Context, given: string, instead: string): Promise<string> {
  const { parent, subAccount } = await findAccount(context, given);
  if (subAccount === null) return parent;
  throw new Failure(exitCode.failed, `${given} is a sub-account of ${parent}.`, instead);
}

/**
 * Finds a sub-account by its id alone, or by its parent and either its id or `ext:<external_id>`.
 *
 * @param given one or two command arguments
 * @throws {Failure}
 */
export async function findSubAccount(
  context: Context,
  given: readonly string[],
): Promise<FoundAccount & { readonly subAccount: string }> {
  const [first, second, ...more] = given;
  if (first === undefined || more.length > 0)
    throw new Failure(exitCode.usage, 'One sub-account at a time: its id, or its parent and then its id.');
  if (second !== undefined) {
    const parent = await findParent(context, first, 'Name its parent there, or leave that out.');
    return { parent, subAccount: await findBelow(context, parent, second) };
  }
  if (first.startsWith(externalPrefix))
    throw new Failure(
      exitCode.usage,
      'An external_id is unique only within its parent: name the parent before it.',
    );
  const { parent, subAccount } = await findAccount(context, first);
  if (subAccount !== null) return { parent, subAccount };
  throw new Failure(
    exitCode.failed,
    `${first} is a parent account, and no sub-account.`,
    '`tenancy-gateway accounts --help` shows the commands for it.',
  );
}

async function findBelow(context: Context, parent: string, given: string): Promise<string> {
  if (!given.startsWith(externalPrefix)) return given;
  const externalId = given.slice(externalPrefix.length);
  const query = new URLSearchParams({ external_id: externalId });
  const found = await first<SubAccount>(
    context.api(),
    `/accounts/${parent}/sub-accounts?${query.toString()}`,
  );
  if (found !== undefined) return found.id;
  throw new Failure(
    exitCode.failed,
    `No sub-account of ${parent} has the external_id ${externalId}.`,
    `\`tenancy-gateway sub-accounts list ${parent}\` lists its sub-accounts.`,
  );
}

/** Turns the accounts named in a command into query filters. @throws {Failure} if there is no such account */
export async function accountFilters(
  context: Context,
  account: string | undefined,
  subAccount: string | undefined,
): Promise<{ readonly account_id?: string; readonly sub_account_id?: string }> {
  const found = account === undefined ? undefined : await findAccount(context, account);
  if (subAccount !== undefined) {
    if (found === undefined) return { sub_account_id: await findSubAccountOrParent(context, subAccount) };
    return { account_id: found.parent, sub_account_id: await findBelow(context, found.parent, subAccount) };
  }
  if (found === undefined) return {};
  return found.subAccount === null ? { account_id: found.parent } : { sub_account_id: found.subAccount };
}

/**
 * Returns the id to use in the filter `sub_account_id`. A parent's id is allowed and means the parent without its
 * sub-accounts.
 */
async function findSubAccountOrParent(context: Context, given: string): Promise<string> {
  const { parent, subAccount } = await findAccount(context, given);
  return subAccount ?? parent;
}

async function first<T>(api: GatewayApi, path: string): Promise<T | undefined> {
  return (await api.call<Listing<T>>('GET', path)).data[0];
}

/** Returns `undefined` if a call was rejected because there is no such thing. @throws any other error */
export function unlessNotFound(error: unknown): undefined {
  if (problemIn(error).code === 'not_found') return undefined;
  throw error;
}

const listHint = '`tenancy-gateway accounts list` lists the accounts.';
const formHint = `An account is named by its id, or by ext: and its external_id. ${listHint}`;
