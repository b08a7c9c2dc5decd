import type { AccountId, KeyId } from '../../domain/ids.ts';
import type { StampedFact } from '../../ports/fact-cache.ts';
import type { AccountFact, FactKey, FactValue, KeyFact } from '../../ports/facts.ts';

/** Version of the format below. A fact that another version of the gateway wrote in another format counts as absent. */
const version = 1;

/** A fact as text: `{"v":1,"s":seq,"i":incarnation,"f":value}`. */
export function encodeFact({ value, seq, incarnation }: StampedFact): string {
  return JSON.stringify({ v: version, s: seq, i: incarnation, f: value });
}

/** Reads what {@link encodeFact} wrote; `undefined` for anything else, since other programs may write to Redis too. */
export function decodeFact(key: FactKey, text: string): StampedFact | undefined {
  const read = parse(text);
  if (!isObject(read) || read['v'] !== version) return undefined;
  const { s: seq, i: incarnation, f } = read;
  if (!Number.isSafeInteger(seq) || typeof incarnation !== 'string') return undefined;
  const value = readValue(key, f);
  return value === undefined ? undefined : { value, seq: seq as number, incarnation };
}

function readValue(key: FactKey, value: unknown): FactValue | undefined {
  switch (key.charAt(0)) {
    case 'k':
      return readKeyFact(value);
    case 'a':
      return readAccountFact(value);
    case 'x':
      return typeof value === 'string' ? (value as AccountId) : undefined;
    case 'n':
      return Number.isSafeInteger(value) ? (value as number) : undefined;
    default:
      return undefined;
  }
}

function readKeyFact(value: unknown): KeyFact | undefined {
  if (!isObject(value)) return undefined;
  const { keyId, accountId, scopes, expiresAtMs, revoked } = value;
  if (typeof keyId !== 'string' || typeof accountId !== 'string' || typeof revoked !== 'boolean')
    return undefined;
  if (expiresAtMs !== null && typeof expiresAtMs !== 'number') return undefined;
  if (!isStrings(scopes)) return undefined;
  return { keyId: keyId as KeyId, accountId: accountId as AccountId, scopes, expiresAtMs, revoked };
}

function readAccountFact(value: unknown): AccountFact | undefined {
  if (!isObject(value)) return undefined;
  const { id, parentId, externalId, status } = value;
  if (typeof id !== 'string' || !isTextOrNull(parentId) || !isTextOrNull(externalId)) return undefined;
  if (status !== 'active' && status !== 'deactivated' && status !== 'suspended') return undefined;
  return { id: id as AccountId, parentId: parentId as AccountId | null, externalId, status };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
