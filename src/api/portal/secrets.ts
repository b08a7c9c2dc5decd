import { createHash } from 'node:crypto';

const secretBytes = 32;
const secretForm = /^[\w-]{43}$/;

/** Makes a secret. The store keeps only its SHA-256. */
export function newSecret(randomBytes: (size: number) => Uint8Array): {
  readonly secret: string;
  readonly digest: Buffer;
} {
  const secret = Buffer.from(randomBytes(secretBytes)).toString('base64url');
  return { secret, digest: sha256(secret) };
}

/** Returns the SHA-256 of a text that has the form of a secret; `undefined` for other texts. */
export function digestOfSecret(text: string): Buffer | undefined {
  return secretForm.test(text) ? sha256(text) : undefined;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
