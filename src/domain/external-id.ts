/**
 * Name that a parent gives a sub-account, or the operator a parent: 1–255 visible ASCII characters, case-sensitive. No comma,
 * because it is sent in a header and proxies join repeated headers with commas.
 */
export const externalIdPattern = '^[!-+\\--~]+$';
export const externalIdMaxLength = 255;

const form = new RegExp(externalIdPattern);

/** Whether `text` may be an `external_id`. */
export function isExternalId(text: string): boolean {
  return text.length <= externalIdMaxLength && form.test(text);
}
