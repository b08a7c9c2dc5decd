import { apiKeyReader, digestSecret, usualKeyPrefix, type KeyDigest } from '../domain/api-key.ts';
import { MissingFact, type Facts } from '../ports/directory.ts';
import { factKey } from '../ports/facts.ts';

/**
 * Reads the `Authorization` headers of a request on an open route, which may belong to the service behind the route.
 *
 * @returns digests of all texts that could be imported keys of this gateway; `null` if the headers must not be passed
 * on, because they read as a key of this gateway, or because they cannot be told apart from one
 */
export type ReadAuthorizationOfOthers = (authorization: readonly string[]) => readonly KeyDigest[] | null;

/** One credential: a scheme and a token, or a token alone (RFC 9110 §11.4). */
const credential = /^(?:[^ \t,]+[ \t]+)?([^ \t,]+)$/;
/** Separates the parameters of all other credentials. */
const separators = /[ \t,;="']+/;
/** Maximum number of texts to look up. A header with more cannot be told apart from a key. */
const mostTexts = 16;

/**
 * Returns the reader. Schemes do not matter to it: the service may read a key behind any of them, even in base64 as the
 * user or password of `Basic` (RFC 7617 §2).
 *
 * @param prefix prefix of new keys
 */
export function readerOfOthers(prefix: string): ReadAuthorizationOfOthers {
  const readApiKey = apiKeyReader(prefix);
  const prefixes = [...new Set([prefix, usualKeyPrefix])].map((one) => one.replace(/[^A-Za-z0-9]/g, '\\$&'));
  const own = new RegExp(`(?:^|[^A-Za-z0-9_-])(?:${prefixes.join('|')})_`);

  return (authorization) => {
    const [value] = authorization;
    if (value === undefined || authorization.length > 1) return null;
    const token = credential.exec(value)?.[1] ?? '';
    const decoded = Buffer.from(token, 'base64').toString('latin1');
    if (own.test(value) || own.test(decoded)) return null;
    const colon = decoded.indexOf(':');
    const inside = [decoded, decoded.slice(0, Math.max(0, colon)), decoded.slice(colon + 1)];
    const texts = [token, ...inside, ...value.split(separators)];
    const keys = new Set(texts.map(readApiKey).filter((key) => key !== undefined));
    return keys.size > mostTexts ? null : [...keys].map(digestSecret);
  };
}

/** Whether one of the digests belongs to a key, even to a revoked or expired one. */
export function holdsKnownKey(facts: Facts, digests: readonly KeyDigest[]): boolean | MissingFact {
  for (const digest of digests) {
    const key = facts.key(digest);
    if (key === undefined) return new MissingFact(factKey.key(digest));
    if (key !== null) return true;
  }
  return false;
}
