/** Minimum length of a key; imported keys have at least as many characters. */
const keyMinLength = 16;
/** Maximum length of the text before a key's random characters, and number of those that the gateway shows. */
const longestPrefix = 12;
const shownRandom = 4;
/** Number of first characters that the gateway shows of a key without `_`. */
const shownFirst = 8;

/** Whether a text is long enough to be a whole key, so that only its digest may be sent. */
export function mayBeWhole(text: string): boolean {
  return text.length >= keyMinLength;
}

/** Cuts a text to the first characters of a key that the gateway shows to everybody who may list keys. */
export function shownStart(text: string): string {
  const shown = Math.max(shownFirst, text.slice(0, longestPrefix).lastIndexOf('_') + 1 + shownRandom);
  return text.slice(0, mayBeWhole(text) ? Math.min(shown, text.length / 2) : shown);
}

/** Cuts a text to the last characters of a key that the gateway shows. */
export function shownEnd(text: string): string {
  return text.trim().slice(-4);
}

/** Takes away what stands around a key in a header, in JSON or in a command. */
export function unwrapped(text: string): string {
  const bare = text
    .replace(/^[\s"'`]+|[\s"'`,;]+$/g, '')
    .replace(/^[\w-]+["']?\s*:\s*/, '')
    .replace(/^Bearer\s+/i, '');
  return bare === text ? bare : unwrapped(bare);
}

/** What a text is that no key is found by. */
export type NotAKey =
  | { readonly is: 'hints'; readonly prefix: string; readonly last4: string }
  | { readonly is: 'id'; readonly id: string }
  | { readonly is: 'client-secret' }
  | { readonly is: 'unknown' };

// Ids of the gateway are UUIDs of version 7. Another UUID may be a key of somebody's own, and is not sent.
const id = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Tells what a text is that is not a key: the characters that a list shows, an id, or a client secret. */
export function notAKey(text: string): NotAKey {
  const bare = unwrapped(text);
  const [, start, end] = /^(\S*?)(?:…|\.{3})(\S*)$/.exec(bare) ?? [];
  if (start !== undefined && end !== undefined && start + end !== '')
    return { is: 'hints', prefix: shownStart(start), last4: shownEnd(end) };
  if (id.test(bare)) return { is: 'id', id: bare.toLowerCase() };
  return { is: bare.startsWith('tgs_') ? 'client-secret' : 'unknown' };
}
