import { isExternalId } from '../../domain/external-id.ts';
import { parseAccountId, parseKeyId, type AccountId, type KeyId } from '../../domain/ids.ts';
import { noLimits, type Limits } from '../../domain/limits/limits.ts';
import { planNamePattern, unlimited, type OwnLimits } from '../../domain/limits/plan.ts';
import type { StampedFact } from '../../ports/fact-cache.ts';
import type { AccountFact, FactKey, FactValue, KeyFact, PlanFact } from '../../ports/facts.ts';

/** Version of the format that `encodeFact` writes. A fact in any other version counts as absent. */
const version = 1;

/** Encodes a fact as text: `{"v":1,"s":seq,"i":incarnation,"f":value}`. */
export function encodeFact({ value, seq, incarnation }: StampedFact): string {
  return JSON.stringify({ v: version, s: seq, i: incarnation, f: value });
}

/**
 * Parses text that {@link encodeFact} wrote for the fact named `key`. Returns `undefined` for any other text, since
 * other programs may write to Redis. An account fact must have the account id that `key` names, and every id must be a
 * valid UUID, because ids are used in upstream headers and usage counts.
 */
export function decodeFact(key: FactKey, text: string): StampedFact | undefined {
  const read = parse(text);
  if (!isObject(read) || read['v'] !== version) return undefined;
  const { s: seq, i: incarnation, f } = read;
  if (!isCount(seq) || typeof incarnation !== 'string') return undefined;
  const value = readValue(key, f);
  return value === undefined ? undefined : { value, seq, incarnation };
}

function readValue(key: FactKey, value: unknown): FactValue | undefined {
  switch (key.charAt(0)) {
    case 'k':
      return readKeyFact(value);
    case 'a':
      return readAccountFact(key.slice(2), value);
    case 'x':
      return isAccountId(value) ? value : undefined;
    case 'n':
      return isCount(value) ? value : undefined;
    case 'p':
      return readPlanFact(value);
    default:
      return undefined;
  }
}

function readKeyFact(value: unknown): KeyFact | undefined {
  if (!isObject(value)) return undefined;
  const { keyId, accountId, scopes, expiresAtMs, revoked, limitId } = value;
  if (!isKeyId(keyId) || !isAccountId(accountId) || typeof revoked !== 'boolean') return undefined;
  if (expiresAtMs !== null && !Number.isSafeInteger(expiresAtMs)) return undefined;
  const limits = readLimits(value['limits']);
  if (!areScopes(scopes) || limits === undefined || !isKeyId(limitId)) return undefined;
  return { keyId, accountId, scopes, expiresAtMs: expiresAtMs as number | null, revoked, limits, limitId };
}

/** Returns the value if it is a valid fact about the account `of`; otherwise `undefined`. */
function readAccountFact(of: string, value: unknown): AccountFact | undefined {
  if (!isObject(value)) return undefined;
  const { id, parentId, externalId, status } = value;
  const plan = readPlan(value['plan']);
  const limits = readLimits(value['limits']);
  if (!isAccountId(id) || id !== of || !isExternalIdOrNull(externalId)) return undefined;
  if (plan === undefined || limits === undefined) return undefined;
  if (parentId === null) {
    return status === 'active' || status === 'suspended' || status === 'deleted'
      ? { id, parentId, externalId, status, limits, plan }
      : undefined;
  }
  if (!isAccountId(parentId) || parentId === id || plan !== null) return undefined;
  return status === 'active' || status === 'deactivated' || status === 'deleted'
    ? { id, parentId, externalId, status, limits, plan }
    : undefined;
}

/** Returns a parent's plan: `null` stands for none. Returns `undefined` if `value` is not valid. */
function readPlan(value: unknown): AccountFact['plan'] | undefined {
  if (value === null) return null;
  if (!isObject(value)) return undefined;
  const { name } = value;
  const own = readOwnLimits(value['own']);
  return typeof name === 'string' && planName.test(name) && own !== undefined ? { name, own } : undefined;
}

const planName = new RegExp(planNamePattern);

function readPlanFact(value: unknown): PlanFact | undefined {
  const limits = isObject(value) ? readLimits(value['limits']) : undefined;
  return limits === undefined || limits === null ? undefined : { limits };
}

function readOwnLimits(value: unknown): OwnLimits | undefined {
  const isOwn = (one: unknown, name: string): boolean =>
    isLimit(one) || (one === unlimited && name !== 'burst');
  return limitsIn<OwnLimits>(value, isOwn);
}

/** Returns the limits in `value`: `null` stands for no limits. Returns `undefined` if `value` is not valid. */
function readLimits(value: unknown): Limits | null | undefined {
  return value === null ? null : limitsIn<Limits>(value, isLimit);
}

function limitsIn<L>(value: unknown, isValid: (one: unknown, name: string) => boolean): L | undefined {
  if (!isObject(value)) return undefined;
  const limits = Object.keys(noLimits).map((name) => [name, value[name]] as const);
  return limits.every(([name, one]) => isValid(one, name)) ? (Object.fromEntries(limits) as L) : undefined;
}

function isLimit(value: unknown): value is number | null {
  return value === null || (isCount(value) && value > 0);
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

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * Returns whether the value is an account id in lower case. PostgreSQL writes ids in lower case, and the gateway
 * compares them as text.
 */
function isAccountId(value: unknown): value is AccountId {
  return typeof value === 'string' && parseAccountId(value) === value;
}

function isKeyId(value: unknown): value is KeyId {
  return typeof value === 'string' && parseKeyId(value) === value;
}

function isExternalIdOrNull(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && isExternalId(value));
}

/** Maximum number of scopes per key, as in the table `api_key`. */
const mostScopes = 50;
const scopeForm = /^[A-Za-z0-9_.*:-]{1,100}$/;

function areScopes(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= mostScopes &&
    value.every((each) => typeof each === 'string' && scopeForm.test(each))
  );
}
