import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../ports/clock.ts';
import type { PortalSessionStore } from '../ports/portal-sessions.ts';

const randomLength = 32;
const macLength = 16;
/** 48 bytes in base64url. */
export const secretForm = /^[\w-]{64}$/;
/** Milliseconds until keys are read again. A new key is used after twice as long, when every replica has read it. */
const keysMs = 30_000;

/** Dependencies of {@link SessionSecrets}. */
export interface SessionSecretsDeps {
  readonly portalSessions: Pick<PortalSessionStore, 'keys'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Cryptographically secure source of random bytes. */
  readonly randomBytes: (size: number) => Uint8Array;
}

/**
 * Secrets of sessions, and of links to the portal: random bytes and their MAC (HMAC-SHA-256, RFC 2104), by which a secret that was made up
 * is told without asking the store. The store keeps only the SHA-256 of a secret.
 *
 * Methods throw `ProblemError` `unavailable` if the keys of the MAC cannot be read.
 */
export class SessionSecrets {
  readonly #deps: SessionSecretsDeps;
  #keys: Promise<readonly Uint8Array[]> | undefined;
  #readMs = -Infinity;

  constructor(deps: SessionSecretsDeps) {
    this.#deps = deps;
  }

  /** Makes a secret. */
  async make(): Promise<{ readonly secret: string; readonly digest: Buffer }> {
    const [key] = await this.#keysNow();
    if (key === undefined) throw new Error('the table session_key is empty');
    const random = Buffer.from(this.#deps.randomBytes(randomLength));
    const secret = Buffer.concat([random, macOf(random, key)]).toString('base64url');
    return { secret, digest: sha256(secret) };
  }

  /** Returns the SHA-256 of a secret that a gateway has made; `undefined` for any other text. */
  async digestOf(text: string): Promise<Buffer | undefined> {
    if (!secretForm.test(text)) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    const [random, mac] = [bytes.subarray(0, randomLength), bytes.subarray(randomLength)];
    const keys = await this.#keysNow();
    return keys.some((key) => timingSafeEqual(macOf(random, key), mac)) ? sha256(text) : undefined;
  }

  #keysNow(): Promise<readonly Uint8Array[]> {
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#keys !== undefined && nowMs < this.#readMs + keysMs) return this.#keys;
    this.#readMs = nowMs;
    this.#keys = this.#deps.portalSessions.keys();
    this.#keys.catch(() => (this.#keys = undefined));
    return this.#keys;
  }
}

function macOf(random: Uint8Array, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(random).digest().subarray(0, macLength);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
