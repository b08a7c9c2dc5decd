import { createHash } from 'node:crypto';

/** Looks a fact up: in memory, or in Redis. */
export type Lookup = (key: string) => string | null | undefined | Promise<string | null | undefined>;

/** What the upstream is told about a request. */
export interface Resolved {
  readonly resolved: string;
  readonly caller: string;
  readonly keyId: string;
  readonly scopes: string;
}

/** Status to reject with. */
export type Rejection = 400 | 401 | 403;

const writes = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * The gateway's rule as one would write it in an afternoon: two reads (the key, then its account) and, with an acting
 * header, one or two more. Facts are the table of `facts.ts`.
 */
export async function resolve(
  lookup: Lookup,
  method: string,
  authorization: string | undefined,
  acting: string | undefined,
): Promise<Resolved | Rejection> {
  if (authorization === undefined || !/^bearer /i.test(authorization)) return 401;
  const digest = createHash('sha256').update(authorization.slice(7)).digest('base64');
  const key = await lookup(`k:${digest}`);
  if (!key) return 401;
  const [account = '', parent = '', keyId = '', scopes = ''] = key.split(' ');
  if (!(await lookup(`a:${account}`))?.endsWith(' active')) return 403;
  const resolved =
    parent === '-'
      ? await forParent(lookup, method, account, acting)
      : await forSubAccount(lookup, account, parent, acting);
  return typeof resolved === 'number' ? resolved : { resolved, caller: account, keyId, scopes };
}

async function forParent(
  lookup: Lookup,
  method: string,
  account: string,
  acting: string | undefined,
): Promise<string | Rejection> {
  if (acting === undefined) {
    return writes.has(method) && Number((await lookup(`n:${account}`)) ?? 1) > 0 ? 400 : account;
  }
  if (acting === 'self') return account;
  const isExternal = acting.startsWith('ext:');
  if (!isExternal && acting.length !== 36) return 400;
  const id = isExternal ? await lookup(`x:${account}:${acting.slice(4)}`) : acting.toLowerCase();
  if (!id) return 403;
  return id === account || (await lookup(`a:${id}`)) === `${account} active` ? id : 403;
}

async function forSubAccount(
  lookup: Lookup,
  account: string,
  parent: string,
  acting: string | undefined,
): Promise<string | Rejection> {
  if (!(await lookup(`a:${parent}`))?.endsWith(' active')) return 403;
  if (acting === undefined || acting === 'self' || acting.toLowerCase() === account) return account;
  return acting.startsWith('ext:') && (await lookup(`x:${parent}:${acting.slice(4)}`)) === account
    ? account
    : 403;
}
