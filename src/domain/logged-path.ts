import { secrets } from './api-key.ts';
import { withoutQuery } from './paths.ts';

/** Matches `by-external-id/` in every spelling that a router or a careless reader decodes, and what precedes it. */
const byExternalId = new RegExp(
  `^.*?${[...'by-external-id'].map(spellings).join('')}(?:/|%2f|\\\\|%5c)`,
  'i',
);

/** Returns an expression for a character and for its percent-encoded form. */
function spellings(char: string): string {
  return `(?:${char}|%${char.charCodeAt(0).toString(16)})`;
}

/** Most characters of a path in the log. */
const loggedLength = 1_024;
/** More than a key has, so that a key which is cut, and not recognised by what is left of it, is cut off. */
const keyLength = 64;

/**
 * Returns the target of a management call, or of a request that the ingress rejects, as the log has it: without its
 * query, without the `external_id` that such a path may end with, and without keys that a caller took for ids. Lines in
 * the log outlive a deleted account. It is cut before it is searched, because strangers may send long ones.
 */
export function loggedPath(target: string): string {
  const whole = withoutQuery(target);
  const path = whole.slice(0, loggedLength + keyLength);
  const start = byExternalId.exec(path)?.[0];
  const shown = (start === undefined ? path : `${start}:external_id`).replaceAll(secrets, '[secret]');
  return start === undefined && path !== whole ? `${shown.slice(0, -keyLength)}…` : shown;
}
