import { createHash, timingSafeEqual } from 'node:crypto';
import type { OperatorToken } from '../../config.ts';

/** An operator, as the operator's token says. */
export type KnownOperator = Pick<OperatorToken, 'operator' | 'role'>;

/**
 * The tokens in force. All generations of the applications share them, so that a call that began before a reload is
 * checked against the tokens after it.
 */
export class OperatorTokens {
  #expected: readonly (KnownOperator & { readonly digest: Buffer })[] = [];

  constructor(tokens: readonly OperatorToken[]) {
    this.replace(tokens);
  }

  /** Replaces all tokens. */
  replace(tokens: readonly OperatorToken[]): void {
    this.#expected = tokens.map(({ token, ...known }) => ({ ...known, digest: digest(token) }));
  }

  /** Returns the operator with this token; `undefined` if there is none. */
  find(sent: string): KnownOperator | undefined {
    const sentDigest = digest(sent);
    // Digests are compared instead of tokens, because `timingSafeEqual` needs equal lengths. The sent digest is
    // compared with every expected digest, so timing does not reveal which digest matched.
    return this.#expected.filter((each) => timingSafeEqual(sentDigest, each.digest))[0];
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
