import type { UncheckedFile } from '../gateway-file.ts';
import type { SchemaFault } from '../validate.ts';
import type { LocatedToken } from './operator-tokens.ts';

/** A token with fewer characters causes a warning but works. `openssl rand -hex 16` prints a token of this length. */
const shortestToken = 32;

/** Rejects placeholders, and tokens shared by two operators: events could not tell these operators apart. */
export function checkTokens(tokens: readonly LocatedToken[]): SchemaFault[] {
  const seen = new Set<string>();
  return tokens.flatMap(({ path, token }) => {
    const detail = isPlaceholder(token)
      ? 'is a placeholder of an example: put a token of your own in its place (`openssl rand -hex 32`)'
      : seen.has(token)
        ? 'is the token of another operator, too'
        : undefined;
    seen.add(token);
    return detail === undefined ? [] : [{ path, detail }];
  });
}

/** Returns warnings about tokens that are so short that they could be guessed. */
export function shortTokens(tokens: readonly LocatedToken[]): SchemaFault[] {
  return tokens
    .filter(({ token }) => token.length < shortestToken)
    .map(({ path, token }) => ({
      path,
      detail: `can be guessed: it has ${token.length} characters, and should have ${shortestToken} or more`,
    }));
}

/** Rejects a placeholder as the database password. */
export function checkDatabasePassword({ database }: UncheckedFile): SchemaFault[] {
  return (['url', 'direct_url'] as const).flatMap((name) => {
    const url = database[name];
    const isUnset = url !== undefined && URL.canParse(url) && isPlaceholder(new URL(url).password);
    return isUnset
      ? [{ path: ['database', name], detail: 'has a placeholder of an example as its password' }]
      : [];
  });
}

/**
 * Whether a secret is `PASSWORD`, or several words in capitals joined by underscores, such as `YOUR_TOKEN`. No
 * generator produces such strings.
 */
function isPlaceholder(secret: string): boolean {
  return secret === 'PASSWORD' || /^[A-Z]+(?:_[A-Z]+)+$/.test(secret);
}
