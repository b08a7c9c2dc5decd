import {
  apiKeyReader,
  digestSecret,
  usualKeyPrefix,
  type ApiKeyText,
  type KeyDigest,
} from '../domain/api-key.ts';
import { MissingFact, type Facts } from '../ports/directory.ts';
import { factKey } from '../ports/facts.ts';

/**
 * Reads the `Authorization` headers of a request on an open route, which may belong to the service behind the route.
 *
 * @returns digests of all texts that could be imported keys of this gateway; `null` if the headers must not be passed
 * on, because they read as a key of this gateway, or because they cannot be told apart from one
 */
export type ReadAuthorizationOfOthers = (authorization: readonly string[]) => readonly KeyDigest[] | null;

/** Maximum number of texts to look up. A header with more cannot be told apart from a key. */
const mostTexts = 16;
/** Characters that no key has. */
const noKey = /[^!-+\--~]+/;

/**
 * Returns the reader. Schemes do not matter to it: the service may read a key behind any of them, in quotes, as a
 * parameter, or in base64 as the user or password of `Basic` (RFC 7617 §2).
 *
 * @param prefix prefix of new keys
 */
export function readerOfOthers(prefix: string): ReadAuthorizationOfOthers {
  const readApiKey = apiKeyReader(prefix);
  const ownPrefix = [...new Set([prefix, usualKeyPrefix])]
    .map((one) => one.replace(/[^A-Za-z0-9]/g, '\\$&'))
    .join('|');
  // A prefix at the beginning of a word is enough, so that a mistyped key is recognised, too. Anywhere else it takes a
  // whole key.
  const own = new RegExp(`(?:^|[^A-Za-z0-9_-])(?:${ownPrefix})_|(?:${ownPrefix})_[0-9A-Za-z]{39}`);

  return (authorization) => {
    const [value] = authorization;
    if (value === undefined || authorization.length > 1) return null;
    const written = textsIn(value);
    const decoded = written.map((text) =>
      Buffer.from(text, 'base64').toString('latin1').replaceAll('\0', ''),
    );
    if (own.test(value) || decoded.some((text) => own.test(text))) return null;
    const keys = new Set([...written, ...decoded.flatMap(credentialsIn)].map(readApiKey));
    keys.delete(undefined);
    return keys.size > mostTexts ? null : ([...keys] as ApiKeyText[]).map(digestSecret);
  };
}

/** Returns the words of a header: each as it is, without its quotes, and the value of a parameter. */
function textsIn(value: string): readonly string[] {
  const words = value.split(noKey).filter((word) => word !== '');
  const values = words.flatMap((word) => (word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : []));
  const texts = [...words, ...values];
  return [...new Set([...texts, ...texts.map(unquoted)])];
}

/** Returns a text without a quote before it, and without quotes and semicolons after it. */
function unquoted(text: string): string {
  const start = text.startsWith('"') || text.startsWith("'") ? 1 : 0;
  let end = text.length;
  // A regular expression would read a long row of quotes again from each of them.
  while (end > start && `"';`.includes(text[end - 1] as string)) end -= 1;
  return text.slice(start, end);
}

/** Returns the texts in decoded base64 that may be keys: all of it, the user, and the password. */
function credentialsIn(decoded: string): readonly string[] {
  const colon = decoded.indexOf(':');
  const parts = [decoded, decoded.slice(0, Math.max(0, colon)), decoded.slice(colon + 1)];
  return parts.flatMap((part) => part.split(noKey));
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
