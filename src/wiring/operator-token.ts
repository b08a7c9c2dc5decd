import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the path of the file that holds an embedded store's operator token. */
export function operatorTokenFile(dataDir: string): string {
  return join(dataDir, 'admin-token');
}

/** Reads the token in `dataDir`; `undefined` if there is none. @throws if the file exists but cannot be read */
export function readOperatorToken(dataDir: string): string | undefined {
  try {
    const token = readFileSync(operatorTokenFile(dataDir), 'utf8').trim();
    return token === '' ? undefined : token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the token in `dataDir`. The first call creates the token, in a file that only this user can read. */
export function ensureOperatorToken(dataDir: string, randomBytes: (size: number) => Buffer): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const present = readOperatorToken(dataDir);
  if (present !== undefined) return present;
  const token = randomBytes(32).toString('base64url');
  const file = operatorTokenFile(dataDir);
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${token}\n`, { mode: 0o600 });
  // The rename is atomic, so that a process killed here does not leave half a token behind.
  renameSync(draft, file);
  return token;
}
