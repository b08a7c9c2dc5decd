import { createHash, timingSafeEqual } from 'node:crypto';
import type { OperatorToken } from '../../config.ts';

/** An operator, as the operator's token says. */
export type KnownOperator = Pick<OperatorToken, 'operator' | 'role'>;

/**
 * The tokens in force. All generations of the applications share them, so that a call that began before a reload is
 * checked against the tokens after it.
 */
export class OperatorTokens {
  #expected: readonly { readonly operator: KnownOperator; readonly digest: Buffer }[] = [];

  constructor(tokens: readonly OperatorToken[]) {
    this.replace(tokens);
  }

  /** Replaces all tokens. */
  replace(tokens: readonly OperatorToken[]): void {
    this.#expected = tokens.map(({ token, ...operator }) => ({ operator, digest: digestOf(token) }));
  }

  /** Returns the operator with this token; `undefined` if there is none. */
  find(sent: string): KnownOperator | undefined {
    const sentDigest = digestOf(sent);
    // Digests are compared instead of tokens, because `timingSafeEqual` needs equal lengths.
    return this.holder((expected) => timingSafeEqual(sentDigest, expected));
  }

  /**
   * Returns the operator with the token whose SHA-256 satisfies `matches`; `undefined` if there is none. Every digest is
   * tried, so timing does not reveal which one matched.
   */
  holder(matches: (digest: Buffer) => boolean): KnownOperator | undefined {
    return this.#expected.filter(({ digest }) => matches(digest))[0]?.operator;
  }
}

/** Returns the SHA-256 of a token, as {@link OperatorTokens} keeps it, or of another secret. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
