import type { Problem } from './problem.ts';

/** Schemes in which `Authorization` can carry an API key, spelled as in `authentication.schemes`. */
export const authorizationSchemes = ['Bearer', 'Token', 'ApiKey', 'Basic'] as const;
export type AuthorizationScheme = (typeof authorizationSchemes)[number];

/** Default of the `authentication.schemes` setting. */
export const usualSchemes: readonly AuthorizationScheme[] = ['Bearer'];

/** User name and password of `Basic` (RFC 7617). Their characters are bytes. One of the two is the key. */
export interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

/**
 * Credentials in a value of `Authorization`: the text after the scheme, a user name with its password, or the problem
 * if the value has none. Nothing has checked yet whether they are an API key.
 */
export type AuthorizationCredentials = string | BasicCredentials | { readonly problem: Problem };

/** Reads the credentials in a value of `Authorization`. */
export type ReadAuthorization = (value: string) => AuthorizationCredentials;

/**
 * Maximum length of the base64 after `Basic`, in characters: 1,024 bytes, for a key of the maximum length and a user
 * name.
 */
export const basicMaxLength = 1368;

/**
 * Returns a function that reads values of `Authorization`. Names of schemes are case-insensitive (RFC 9110 §11.1). This
 * runs on every request: a value without `Basic` costs one regular expression.
 *
 * @param schemes schemes to accept; a value with any other scheme is a problem
 */
export function authorizationReader(schemes: readonly AuthorizationScheme[]): ReadAuthorization {
  const plain = new RegExp(
    `^(?:${schemes.filter((scheme) => scheme !== 'Basic').join('|')}) +([^ ,]+)$`,
    'i',
  );
  const other = unauthenticated(
    `The Authorization header must read ${schemes.map((scheme) => `\`${formOf(scheme)}\``).join(' or ')}.`,
  );
  if (!schemes.includes('Basic')) return (value) => plain.exec(value)?.[1] ?? other;
  return (value) => {
    const text = plain.exec(value)?.[1];
    if (text !== undefined) return text;
    const encoded = basic.exec(value)?.[1];
    return encoded === undefined ? other : readBasic(encoded);
  };
}

const basic = /^basic +([^ ].*)$/i;

/** Returns how `Authorization` reads in a scheme, as shown to people. */
export function formOf(scheme: AuthorizationScheme): string {
  return scheme === 'Basic' ? 'Basic <base64 of API_KEY:>' : `${scheme} <API_KEY>`;
}

/**
 * Decodes what follows `Basic`. Only canonical base64 is accepted (RFC 4648 §3.5), so that an upstream cannot read other
 * credentials from it. A user name cannot contain a colon, and neither part a control character (RFC 7617 §2).
 */
function readBasic(encoded: string): AuthorizationCredentials {
  if (encoded.length > basicMaxLength) return tooLong;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return notBase64;
  const text = bytes.toString('latin1');
  if (controlCharacter.test(text)) return withControlCharacter;
  const colon = text.indexOf(':');
  if (colon === -1) return withoutColon;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Returns the part of `Basic` credentials that is the API key: the password, or the user name if there is none. */
export function keyOfBasic({ user, password }: BasicCredentials): string {
  return password === '' ? user : password;
}

/**
 * Returns the values of `WWW-Authenticate` for a 401, one for each scheme (RFC 9110 §11.6.1). Each value is sent in a
 * header of its own, because some clients read only one challenge of a header.
 */
export function challengesOf(schemes: readonly AuthorizationScheme[]): string[] {
  return schemes.map((scheme) => (scheme === 'Basic' ? 'Basic realm="api"' : scheme));
}

// eslint-disable-next-line no-control-regex -- the characters to reject
const controlCharacter = /[\0-\x1f\x7f]/;

const tooLong = unauthenticated(
  `The credentials after \`Basic\` are too long: they may have ${basicMaxLength} characters of base64.`,
);
const notBase64 = unauthenticated(
  'The credentials after `Basic` are not base64 with its padding (RFC 4648, section 4).',
);
const withControlCharacter = unauthenticated('The credentials after `Basic` contain a control character.');
const withoutColon = unauthenticated(
  'The credentials after `Basic` have no colon: encode `<API_KEY>:`, the key and a colon behind it.',
);

function unauthenticated(detail: string): { readonly problem: Problem } {
  return { problem: { code: 'unauthenticated', detail } };
}
