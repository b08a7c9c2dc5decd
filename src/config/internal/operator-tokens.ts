import { readFileSync } from 'node:fs';
import type { OperatorToken } from '../../config.ts';
import { usualOperator } from '../../domain/operator-role.ts';
import { problemOf } from '../check-files.ts';
import { formats } from '../formats.ts';
import type { UncheckedFile } from '../gateway-file.ts';
import type { Path } from '../pointer.ts';
import type { SchemaFault } from '../validate.ts';

/** A token of the operator API, with the path of the setting that it is from. */
export interface LocatedToken extends OperatorToken {
  readonly path: Path;
}

/**
 * Returns the tokens in the settings of the file. Tokens in a `token_file` are left out, because a command must not
 * depend on files that only the gateway can read.
 */
export function tokensInFile({ internal }: UncheckedFile): LocatedToken[] {
  const inline = Object.entries(internal.admin_tokens).flatMap(([operator, entry]): LocatedToken[] =>
    typeof entry === 'string' ? [{ path: pathOf(operator), operator, token: entry, role: 'admin' }] : [],
  );
  if (internal.admin_token === undefined) return inline;
  const path = ['internal', 'admin_token'];
  return [{ path, operator: usualOperator, token: internal.admin_token, role: 'admin' }, ...inline];
}

/** Reads the tokens that are in a `token_file`. Entries that the schema has rejected are left out. */
export function readTokenFiles({ internal }: UncheckedFile): {
  readonly tokens: readonly LocatedToken[];
  readonly faults: readonly SchemaFault[];
} {
  const tokens: LocatedToken[] = [];
  const faults: SchemaFault[] = [];
  for (const [operator, entry] of Object.entries(internal.admin_tokens)) {
    if (typeof entry === 'string' || entry.token_file === undefined) continue;
    const path = [...pathOf(operator), 'token_file'];
    const read = readToken(entry.token_file);
    if ('fault' in read) faults.push({ path, detail: read.fault });
    else if (entry.role !== undefined) tokens.push({ path, operator, token: read.token, role: entry.role });
  }
  return { tokens, faults };
}

function readToken(file: string): { readonly token: string } | { readonly fault: string } {
  try {
    const token = readFileSync(file, 'utf8').trim();
    if (formats['token']?.accepts(token)) return { token };
    return { fault: `the file must hold a token: ${formats['token']?.expected}` };
  } catch (error) {
    return { fault: problemOf(error) };
  }
}

function pathOf(operator: string): string[] {
  return ['internal', 'admin_tokens', operator];
}
