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

/**
 * Returns the target of a management call, or of a request that the ingress rejects, as the log has it: without its
 * query, without the `external_id` that such a path may end with, and without keys that a caller took for ids. Lines in
 * the log outlive a deleted account.
 */
export function loggedPath(target: string): string {
  const path = withoutQuery(target);
  const start = byExternalId.exec(path)?.[0];
  return (start === undefined ? path : `${start}:external_id`).replaceAll(secrets, '[secret]');
}
