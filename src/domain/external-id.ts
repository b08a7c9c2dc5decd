/**
 * Format of an `external_id`, the name that a parent gives a sub-account or the operator gives a parent: 1 to 255
 * visible ASCII characters, case-sensitive. Commas are excluded, because the name is sent in a header and proxies join
 * repeated headers with commas.
 */
export const externalIdPattern = '^[!-+\\--~]+$';
export const externalIdMaxLength = 255;

const form = new RegExp(externalIdPattern);

/** Returns whether `text` is a valid `external_id`. */
export function isExternalId(text: string): boolean {
  return text.length <= externalIdMaxLength && form.test(text);
}
