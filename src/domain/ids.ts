declare const brand: unique symbol;

/** A string that has passed a check. Only that check can produce this type. */
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** UUID of a parent or a sub-account, always lower case (RFC 9562). */
export type AccountId = Branded<'AccountId'>;

/** UUID of an API key, always lower case. */
export type KeyId = Branded<'KeyId'>;

/** UUIDv7 of an event, always lower case. Ids of one parent's events ascend with time. */
export type EventId = Branded<'EventId'>;

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function parseUuid(text: string): string | undefined {
  return text.length === 36 && uuidForm.test(text) ? text.toLowerCase() : undefined;
}

/** Parses an account id, ignoring case. Returns `undefined` if it is not a UUID. */
export function parseAccountId(text: string): AccountId | undefined {
  return parseUuid(text) as AccountId | undefined;
}

/**
 * Parses an id that an operator chose for a new account: any UUID except the nil and max UUIDs (RFC 9562 §5.9, §5.10),
 * which stand for "no id" and for the end of a list. Returns `undefined` for anything else.
 */
export function parseGivenId(text: string): AccountId | undefined {
  const id = parseAccountId(text);
  return id === undefined || /^(?:[0-]+|[f-]+)$/.test(id) ? undefined : id;
}

/** Parses a key id, ignoring case. Returns `undefined` if it is not a UUID. */
export function parseKeyId(text: string): KeyId | undefined {
  return parseUuid(text) as KeyId | undefined;
}

/** Parses an event id, ignoring case. Returns `undefined` if it is not a UUID. */
export function parseEventId(text: string): EventId | undefined {
  return parseUuid(text) as EventId | undefined;
}

/**
 * Generates a version 7 UUID (RFC 9562 §5.7); the newest sorts last.
 *
 * @param nowMs current time in milliseconds since 1970
 * @param random at least 10 random bytes
 */
export function uuidV7(nowMs: number, random: Uint8Array): string {
  const bytes = new Uint8Array(16);
  let time = nowMs;
  for (let i = 5; i >= 0; i--) {
    bytes[i] = time % 256;
    time = Math.floor(time / 256);
  }
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
