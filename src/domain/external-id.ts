/**
 * The name that a parent has for a sub-account, or the operator for a parent: 1–255 visible ASCII characters without comma.
 * It travels in a header, and a proxy may join repeated headers with a comma. Case counts.
 */
export const externalIdPattern = '^[!-+\\--~]+$';
export const externalIdMaxLength = 255;

const form = new RegExp(externalIdPattern);

/** Whether `text` may be an `external_id`. */
export function isExternalId(text: string): boolean {
  return text.length <= externalIdMaxLength && form.test(text);
}
