import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the operator's token of the embedded store is kept. */
export function operatorTokenFile(dataDir: string): string {
  return join(dataDir, 'admin-token');
}

/** The token in `dataDir`; `undefined` where there is none. @throws where the file is there and cannot be read */
export function readOperatorToken(dataDir: string): string | undefined {
  try {
    const token = readFileSync(operatorTokenFile(dataDir), 'utf8').trim();
    return token === '' ? undefined : token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The token in `dataDir`, made there the first time, for the eyes of this user alone. */
export function ensureOperatorToken(dataDir: string, randomBytes: (size: number) => Buffer): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const present = readOperatorToken(dataDir);
  if (present !== undefined) return present;
  const token = randomBytes(32).toString('base64url');
  const file = operatorTokenFile(dataDir);
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${token}\n`, { mode: 0o600 });
  // Whole or not at all: a process killed in the middle must not leave half a token behind.
  renameSync(draft, file);
  return token;
}
